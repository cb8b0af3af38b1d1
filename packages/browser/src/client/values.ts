/** What an event or a person may carry: anything that JSON can say. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | undefined
  | Date
  | JsonValue[]
  | { [key: string]: JsonValue };

/** Values by name. Names that begin with `$` have a meaning to the service. */
export type Properties = Record<string, JsonValue>;

export type FlagValue = boolean | string;
