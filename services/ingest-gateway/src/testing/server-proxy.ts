import { createFaultProxy, type FaultProxy } from '@millrace/testing';

/** A fault proxy in front of the server at an address, so that one service loses it and the others do not. */
export function startServerProxy(address: string): Promise<FaultProxy> {
  const { hostname, port } = new URL(address);
  return createFaultProxy({ targetHost: hostname, targetPort: Number(port) });
}

/** The address of a server as seen through its proxy. */
export function throughProxy(address: string, proxy: FaultProxy): string {
  const url = new URL(address);
  url.hostname = proxy.host;
  url.port = String(proxy.port);
  return url.toString();
}
