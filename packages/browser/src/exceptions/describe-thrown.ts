/** What is told of something that was thrown, which may be anything. */
export interface ThrownDescription {
  type: string;
  value: string;
  stack?: string | undefined;
  /** Not an error with a stack of its own: the stack, if any, is of whoever captured it. */
  synthetic: boolean;
  cause?: unknown;
  /** Of an `AggregateError`. */
  errors?: unknown[] | undefined;
}

/** Reads something thrown; `capturedAt` is the stack to show for what has none. */
export function describeThrown(thrown: unknown, capturedAt?: string): ThrownDescription {
  const told = (type: string, value: string) => ({ type, value, stack: capturedAt, synthetic: true });

  const describe = (error: unknown): ThrownDescription => {
    if (typeof error === 'string') return told(...ofText(error));
    if (!isObject(error)) return told('Error', `Primitive value captured as exception: ${String(error)}`);
    const kind = kindOf(error);
    if (kind === 'ErrorEvent') return describeErrorEvent(error as ErrorEvent);
    if (kind === 'PromiseRejectionEvent') {
      const { reason } = error as PromiseRejectionEvent;
      if (isObject(reason)) return describe(reason);
      return told('UnhandledRejection', `Non-Error promise rejection captured with value: ${String(reason)}`);
    }
    if (isError(error)) return kind === 'DOMException' ? ofDom(error) : describeError(error);
    const inner = Object.values(error).find(isError);
    return inner ? describe(inner) : told(...ofObject(error));
  };

  const describeError = (error: Error & { errors?: unknown }): ThrownDescription => ({
    type: error.name || error.constructor.name,
    value: String(error.message),
    stack: error.stack || capturedAt,
    synthetic: !error.stack && !!capturedAt,
    cause: error.cause,
    errors: Array.isArray(error.errors) ? error.errors : undefined,
  });

  const describeErrorEvent = ({ error, message, filename, lineno, colno }: ErrorEvent): ThrownDescription => {
    if (error != null) return describe(error);
    return { ...told(...ofText(message)), ...(lineno && { stack: `    at ${filename}:${lineno}:${colno}` }) };
  };

  try {
    return describe(thrown);
  } catch {
    // A proxy, or a getter that throws.
    return told('Error', 'Unknown error');
  }
}

const isObject = (thrown: unknown): thrown is object => typeof thrown === 'object' && thrown !== null;
const kindOf = (thrown: unknown): string => Object.prototype.toString.call(thrown).slice(8, -1);
const isError = (thrown: unknown): thrown is Error =>
  thrown instanceof Error || /^(Error|DOMException|WebAssembly.Exception)$/.test(kindOf(thrown));

const ofDom = ({ name, message, stack }: Error): ThrownDescription => ({
  type: 'DOMException',
  value: message ? `${name}: ${message}` : name,
  stack,
  synthetic: false,
});

/** Browsers write `Uncaught TypeError: …` where they do not give the error. */
function ofText(text: string): [type: string, value: string] {
  const [, type = 'Error', value = text] =
    /^(?:uncaught (?:exception: )?)?(?:((?:eval|internal|range|reference|syntax|type|uri|)error): )?(.*)$/i.exec(
      text,
    ) ?? [];
  return [type, value];
}

function ofObject(thrown: object): [type: string, value: string] {
  const { name, message } = thrown as { name?: unknown; message?: unknown };
  const className: string = Object.getPrototypeOf(thrown)?.constructor?.name ?? 'Object';
  const captured = (what: string) => `${what} captured as exception`;
  if (thrown instanceof Event) return [className, `${captured(className)} with keys: ${keysOf(thrown)}`];
  const isNamed = typeof name === 'string';
  const isMessage = typeof message === 'string';
  if (isNamed) return [name || 'Error', captured(`'${name}'`) + (isMessage ? ` with message: '${message}'` : '')];
  if (isMessage) return ['Error', message];
  const shown = className === 'Object' ? className : `'${className}'`;
  return ['Error', `${captured(shown)} with keys: ${keysOf(thrown)}`];
}

/** As many as fit forty characters. */
function keysOf(thrown: object): string {
  const keys = Object.keys(thrown).sort();
  const fitting = keys.filter((_, at) => keys.slice(0, at + 1).join(', ').length <= 40);
  return keys.length > 0 ? fitting.join(', ') : '[object has no keys]';
}
