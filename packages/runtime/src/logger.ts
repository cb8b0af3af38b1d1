import winston from 'winston';

/** Levels for the person on call: error = act now, warn = look this week, info = lifecycle, debug = per event. */
export type Logger = winston.Logger;

/**
 * JSON lines on standard output. Never pass properties, keys or e-mail addresses: ids and counts only.
 * @param service name written into every line.
 */
export function createLogger(service: string, level = 'info'): Logger {
  return winston.createLogger({
    level,
    defaultMeta: { service },
    format: winston.format.combine(winston.format(describeErrors)(), winston.format.timestamp(), winston.format.json()),
    transports: [new winston.transports.Console()],
  });
}

/** Errors keep their message, code and chain of causes; winston alone would print them as `{}`. */
function describeErrors(info: winston.Logform.TransformableInfo): winston.Logform.TransformableInfo {
  for (const [field, value] of Object.entries(info)) {
    if (value instanceof Error) info[field] = describeError(value);
  }
  return info;
}

function describeError(error: Error, depth = 0): Record<string, unknown> {
  const code = (error as { code?: unknown }).code;
  return {
    name: error.name,
    message: error.message,
    ...(code === undefined ? {} : { code }),
    ...(depth === 0 ? { stack: error.stack } : {}),
    ...(error.cause instanceof Error && depth < 5 ? { cause: describeError(error.cause, depth + 1) } : {}),
  };
}
