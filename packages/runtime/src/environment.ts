/** Returns the process environment. No other function reads it: all other code receives a frozen config object. */
export function readEnvironment(): Record<string, string | undefined> {
  return process.env;
}

export function toEnvironmentVariable(field: string): string {
  return field.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toUpperCase();
}
