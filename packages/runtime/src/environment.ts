/** The only reader of the process environment. Everything else receives a frozen config object. */
export function environment(): Record<string, string | undefined> {
  return process.env;
}
