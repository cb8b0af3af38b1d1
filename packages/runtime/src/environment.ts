/** The only reader of the process environment. Everything else receives a frozen config object. */
export function environment(): Record<string, string | undefined> {
  return process.env;
}

/** Environment variable name of a config field: `drainTimeoutMs` → `DRAIN_TIMEOUT_MS`. */
export function environmentName(field: string): string {
  return field.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toUpperCase();
}
