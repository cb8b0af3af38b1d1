// Converts a thrown value to the `$exception` properties, including its causes and stacks. Also decides which uncaught
// errors to ignore.

import type { Properties } from '../client/values.ts';

/**
 * Returns the `$exception` properties for a thrown value, or undefined if the value is ignored.
 * @param handled whether the application caught the error
 */
export type ReadException = (thrown: unknown, handled: boolean, capturedAt?: string) => ExceptionEvent | undefined;

/**
 * Creates a function that converts thrown values. It converts every error that the application passes. It ignores
 * uncaught errors that come from browser extensions or exceed the rate limit.
 */
export function createReadException(): ReadException {
  const isLetThrough = createFloodLimit();
  return (thrown, handled, capturedAt) => {
    const properties = buildExceptionEvent(thrown, handled, capturedAt);
    const isCaptured =
      handled || (!isOfExtension(properties) && isLetThrough(String(properties.$exception_list[0]?.type)));
    return isCaptured ? properties : undefined;
  };
}

/** Returns whether an error comes from a browser extension rather than from the application. */
const isOfExtension = ({ $exception_list }: ExceptionEvent): boolean =>
  $exception_list.some(({ stacktrace }) =>
    stacktrace?.frames.some(({ filename }) => /^[a-z-]+-extension:/.test(filename)),
  );

const burst = 10;
const refillMs = 10_000;

/** Allows ten errors of a type at once, and one more every ten seconds. */
function createFloodLimit(): (kind: string) => boolean {
  /** For each error type, the time at which a burst of ten errors is allowed again. */
  const fullAt = new Map<string, number>();
  return (kind) => {
    const now = Date.now();
    const full = Math.max(fullAt.get(kind) ?? 0, now);
    if (full - now > (burst - 1) * refillMs) return false;
    fullAt.set(kind, full + refillMs);
    return true;
  };
}

interface ExceptionEntry {
  type: string;
  value: string;
  mechanism: Record<string, string | number | boolean>;
  stacktrace?: { type: 'raw'; frames: StackFrame[] };
}

type ExceptionEvent = Properties & { $exception_list: ExceptionEntry[] & Properties[] };

const most = 50;

/** Builds the properties for a thrown value, its causes, and the members of aggregate errors. */
export function buildExceptionEvent(thrown: unknown, handled: boolean, capturedAt?: string): ExceptionEvent {
  const list: ExceptionEntry[] = [];
  const seen = new Set<unknown>();

  const add = (error: unknown, mechanism: ExceptionEntry['mechanism'], place?: string) => {
    if (list.length >= most || (typeof error === 'object' && seen.has(error))) return;
    seen.add(error);
    const { type, value, synthetic, stack, cause, errors } = describeThrown(error, place);
    const id = list.length;
    list.push({
      type,
      value,
      mechanism: { ...mechanism, synthetic, exception_id: id },
      ...(stack && { stacktrace: { type: 'raw', frames: parseStack(stack) } }),
    });
    const addInner = (inner: unknown, source: string) => add(inner, { type: 'chained', source, parent_id: id });
    if (cause) addInner(cause, 'cause');
    for (const member of errors ?? []) addInner(member, 'member');
  };

  add(thrown, { type: 'generic', handled }, capturedAt);
  return { $exception_list: list as ExceptionEvent['$exception_list'], $exception_level: 'error' };
}

interface ThrownDescription {
  type: string;
  value: string;
  stack?: string | undefined;
  /**
   * True if the thrown value has no stack of its own. The stack is then that of the code that called
   * `captureException`, if it is known.
   */
  synthetic: boolean;
  cause?: unknown;
  errors?: unknown[] | undefined;
}

/** Describes a thrown value. @param capturedAt the stack to use if the value has no stack */
function describeThrown(thrown: unknown, capturedAt?: string): ThrownDescription {
  const synthesize = (type: string, value: string) => ({ type, value, stack: capturedAt, synthetic: true });

  const describe = (error: unknown): ThrownDescription => {
    if (typeof error === 'string') return synthesize(...ofText(error));
    if (!isObject(error)) return synthesize('Error', `Primitive value captured as exception: ${String(error)}`);
    const kind = kindOf(error);
    if (kind === 'ErrorEvent') return describeErrorEvent(error as ErrorEvent);
    if (kind === 'PromiseRejectionEvent') {
      const { reason } = error as PromiseRejectionEvent;
      if (isObject(reason)) return describe(reason);
      return synthesize('UnhandledRejection', `Non-Error promise rejection captured with value: ${String(reason)}`);
    }
    if (isError(error)) return kind === 'DOMException' ? ofDom(error) : describeError(error);
    const inner = Object.values(error).find(isError);
    return inner ? describe(inner) : synthesize(...ofObject(error));
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
    return { ...synthesize(...ofText(message)), ...(lineno && { stack: `    at ${filename}:${lineno}:${colno}` }) };
  };

  try {
    return describe(thrown);
  } catch {
    // The value cannot be described, for example because it is a proxy or has a getter that throws.
    return synthesize('Error', 'Unknown error');
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

/** Splits a message such as `Uncaught TypeError: …`, which browsers report instead of the error object. */
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

/** Returns as many of the object's keys as fit into forty characters. */
function keysOf(thrown: object): string {
  const keys = Object.keys(thrown).sort();
  const fitting = keys.filter((_, at) => keys.slice(0, at + 1).join(', ').length <= 40);
  return keys.length > 0 ? fitting.join(', ') : '[object has no keys]';
}

interface StackFrame {
  platform: 'web:javascript';
  filename: string;
  function: string;
  /** False if the code belongs to the browser or to a browser extension. */
  in_app: boolean;
  lineno?: number;
  colno?: number;
}

const maxFrames = 50;
const longestLine = 1024;

/**
 * Parses an error's `stack` in the format of Chrome, Firefox or Safari. In the result, the outermost call comes first.
 */
function parseStack(stack: string): StackFrame[] {
  // Chrome's stacks begin with the error message, which may look like a Firefox frame. Therefore, check for Chrome
  // frames first.
  const pattern = /^\s*at /m.test(stack) ? chromeFrame : geckoFrame;
  const frames: StackFrame[] = [];
  for (const line of stack.split('\n')) {
    const [, name = '', place, onlyPlace = ''] = (line.length <= longestLine && pattern.exec(line)) || [];
    const at = place ?? onlyPlace;
    if (at && frames.push(frame(name, at)) === maxFrames) break;
  }
  return frames.reverse();
}

/** Matches `at name (location)` or `at location`. */
const chromeFrame = /^\s*at (?:(.*?) \((.*)\)|(?:async )?(.+?))\s*$/;
/** Matches `name@location` and `@location`. For Safari, it also matches a location without `@`. */
const geckoFrame = /^\s*(?:(.*?)@)?(\S*?\[native code\]|\S.*?(?::\d+|\.js))\s*$/;
/** Matches the location of an `eval` call in the format of Chrome and Firefox. */
const evalInChrome = /^eval.*?\((\S*:\d+:\d+)\).*/;
const evalInGecko = / line (\d+)(?: > eval line \d+)* > eval.*/;
const schemesOfPages =
  /^(?!<anonymous>$)(?:(?:https?|file|blob|app|capacitor|ionic|webpack|webpack-internal|ng):|(?![a-z][a-z0-9.+-]+:).)/i;

function frame(name: string, place: string): StackFrame {
  const [, filename = '', lineno, colno] =
    /^(.*?)(?::(\d+))?(?::(\d+))?$/.exec(place.replace(evalInChrome, '$1').replace(evalInGecko, ':$1')) ?? [];
  return {
    platform: 'web:javascript',
    filename,
    function: /^(<anonymous>)?$/.test(name) ? '?' : name,
    in_app: schemesOfPages.test(filename),
    ...(lineno && { lineno: Number(lineno) }),
    ...(colno && { colno: Number(colno) }),
  };
}
