import { type ExceptionEvent, exceptionEvent } from './exception-event.ts';
import { createFloodLimit } from './flood-limit.ts';

/**
 * The properties of `$exception` for something thrown; undefined: it is not told of.
 * @param handled false: nobody caught it
 */
export type ReadException = (thrown: unknown, handled: boolean, capturedAt?: string) => ExceptionEvent | undefined;

/** Tells of all that an application captures; of what nobody caught, not of extensions, and not without end. */
export function createReadException(): ReadException {
  const isLetThrough = createFloodLimit();
  return (thrown, handled, capturedAt) => {
    const properties = exceptionEvent(thrown, handled, capturedAt);
    const isTold = handled || (!isOfExtension(properties) && isLetThrough(String(properties.$exception_list[0]?.type)));
    return isTold ? properties : undefined;
  };
}

/** What a visitor added to the browser is not the application's. */
const isOfExtension = ({ $exception_list }: ExceptionEvent): boolean =>
  $exception_list.some(({ stacktrace }) =>
    stacktrace?.frames.some(({ filename }) => /^[a-z-]+-extension:/.test(filename)),
  );
