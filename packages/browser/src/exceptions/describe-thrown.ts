/** What is told of something that was thrown, which may be anything. */
export interface ThrownDescription {
  type: string;
  value: string;
  stack?: string;
  /** Not an error with a stack of its own: the stack, if any, is of whoever captured it. */
  isSynthetic: boolean;
  cause?: unknown;
  /** Of an `AggregateError`. */
  errors?: unknown[];
}

/** Reads something thrown; `capturedAt` is the stack to show for what has none. */
export function describeThrown(thrown: unknown, capturedAt?: string): ThrownDescription {
  try {
    return describe(thrown, capturedAt);
  } catch {
    // A proxy, or a getter that throws.
    return { type: 'Error', value: 'Unknown error', stack: capturedAt, isSynthetic: true };
  }
}

function describe(thrown: unknown, capturedAt: string | undefined): ThrownDescription {
  const synthetic = { stack: capturedAt, isSynthetic: true };
  if (typeof thrown === 'string') return { ...ofText(thrown), ...synthetic };
  if (typeof thrown !== 'object' || thrown === null) {
    return { type: 'Error', value: `Primitive value captured as exception: ${String(thrown)}`, ...synthetic };
  }
  const kind = Object.prototype.toString.call(thrown);
  if (kind === '[object ErrorEvent]') return ofErrorEvent(thrown as ErrorEvent, capturedAt);
  if (kind === '[object PromiseRejectionEvent]') {
    const { reason } = thrown as PromiseRejectionEvent;
    if (typeof reason === 'object' && reason !== null) return describe(reason, capturedAt);
    const value = `Non-Error promise rejection captured with value: ${String(reason)}`;
    return { type: 'UnhandledRejection', value, ...synthetic };
  }
  if (isError(thrown)) return ofError(thrown, kind, capturedAt);
  const inner = Object.values(thrown).find(isError);
  return inner ? describe(inner, capturedAt) : { ...ofObject(thrown), ...synthetic };
}

const isError = (thrown: unknown): thrown is Error & { errors?: unknown } =>
  thrown instanceof Error ||
  /^\[object (Error|DOMException|WebAssembly.Exception)\]$/.test(Object.prototype.toString.call(thrown));

function ofError(error: Error & { errors?: unknown }, kind: string, capturedAt: string | undefined): ThrownDescription {
  const isDom = kind === '[object DOMException]';
  const message = String(error.message);
  return {
    type: isDom ? 'DOMException' : error.name || error.constructor.name,
    value: isDom ? [error.name, message].filter(Boolean).join(': ') : message,
    stack: error.stack || (isDom ? undefined : capturedAt),
    isSynthetic: !error.stack && !isDom && capturedAt !== undefined,
    cause: error.cause,
    errors: Array.isArray(error.errors) ? error.errors : undefined,
  };
}

function ofErrorEvent(event: ErrorEvent, capturedAt: string | undefined): ThrownDescription {
  if (event.error != null) return describe(event.error, capturedAt);
  const { filename, lineno, colno } = event;
  return {
    ...ofText(event.message),
    stack: lineno ? `    at ${filename}:${lineno}:${colno}` : capturedAt,
    isSynthetic: true,
  };
}

/** Browsers write `Uncaught TypeError: …` where they do not give the error. */
function ofText(text: string): { type: string; value: string } {
  const [, type = 'Error', value = text] =
    /^(?:uncaught (?:exception: )?)?(?:((?:eval|internal|range|reference|syntax|type|uri|)error): )?(.*)$/i.exec(
      text,
    ) ?? [];
  return { type, value };
}

function ofObject(thrown: object): { type: string; value: string } {
  const { name, message } = thrown as { name?: unknown; message?: unknown };
  const className: string = Object.getPrototypeOf(thrown)?.constructor?.name ?? 'Object';
  const isEvent = thrown instanceof Event;
  const type = isEvent ? className : typeof name === 'string' && name ? name : 'Error';
  if (!isEvent && typeof name === 'string') {
    const told = typeof message === 'string' ? ` with message: '${message}'` : '';
    return { type, value: `'${name}' captured as exception${told}` };
  }
  if (!isEvent && typeof message === 'string') return { type, value: message };
  const shown = isEvent ? className : className === 'Object' ? className : `'${className}'`;
  return { type, value: `${shown} captured as exception with keys: ${keysOf(thrown)}` };
}

/** As many as fit forty characters. */
function keysOf(thrown: object): string {
  const keys = Object.keys(thrown).sort();
  if (keys.length === 0) return '[object has no keys]';
  const fitting = keys.filter((_, at) => keys.slice(0, at + 1).join(', ').length <= 40);
  return fitting.join(', ');
}
