import { createFaultProxy, type FaultProxy } from '@millrace/testing';

/**
 * Starts a fault proxy in front of a server, so that one service can lose its connection to the server while others
 * keep theirs.
 */
export function startServerProxy(address: string): Promise<FaultProxy> {
  const { hostname, port } = new URL(address);
  return createFaultProxy({ targetHost: hostname, targetPort: Number(port) });
}

export function throughProxy(address: string, proxy: FaultProxy): string {
  const url = new URL(address);
  url.hostname = proxy.host;
  url.port = String(proxy.port);
  return url.toString();
}
