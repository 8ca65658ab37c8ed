/** `Reflect.apply` and `Reflect.construct` of the platform, taken before the app's first line: the app could put others in their place. */
export const { apply, construct } = Reflect;
