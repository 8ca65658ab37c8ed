/** Failures of the commands, by exit code: the words are for the user and say what to do. */
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
export const browserFailed = (message: string): CommandFailure => new CommandFailure(3, message);
