import type { IncomingMessage, ServerResponse } from 'node:http';
import helmet from 'helmet';

/** Sets the response headers of a service that only ever answers data, never a page. */
export function securityHeaders(): (response: ServerResponse) => void {
  const headers = constantHeaders();
  return (response) => {
    for (const [name, value] of headers) response.setHeader(name, value);
  };
}

/** What helmet sets, asked once: it is the same for every request, and asking goes through fourteen functions. */
function constantHeaders(): [string, string][] {
  const headers: [string, string][] = [];
  const recorder = {
    setHeader: (name: string, value: string) => void headers.push([name, value]),
    removeHeader: () => {},
  } as unknown as ServerResponse;
  const setHeaders = helmet({
    contentSecurityPolicy: { useDefaults: false, directives: { 'default-src': ["'none'"] } },
  });
  setHeaders({} as IncomingMessage, recorder, (error) => {
    if (error) throw error;
  });
  return headers;
}
