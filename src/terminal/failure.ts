/** Failures of the commands, by exit code. The message is for the user and says what to do. */
export class CommandFailure extends Error {
  /** @param exitCode 1 a check failed, 2 wrong use, 3 browser or page failed */
  constructor(
    readonly exitCode: 1 | 2 | 3,
    message: string,
  ) {
    super(message);
    this.name = 'CommandFailure';
  }
}

export const wrongUse = (message: string): CommandFailure => new CommandFailure(2, message);
/** @throws CommandFailure unless it is an http or https address */
export function insistOnWebAddress(url: string | undefined): asserts url is string {
  if (url === undefined || !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw wrongUse(`"${url}" isn't a web address. Use one that begins with http:// or https://.`);
}
export const browserFailed = (message: string): CommandFailure => new CommandFailure(3, message);
