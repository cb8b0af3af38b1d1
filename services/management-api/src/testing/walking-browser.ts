/** Follows redirects like a browser, with separate cookies for each host. */
export interface WalkingBrowser {
  /**
   * Follows redirects, beginning at a URL.
   * @returns the last URL: one that does not redirect, or one that the browser stops at
   */
  walk(address: string, request?: { form?: Record<string, string>; headers?: Record<string, string> }): Promise<URL>;
  /** Sends one request, and stores the cookies that the response sets. */
  step(
    address: string,
    request?: { form?: Record<string, string>; headers?: Record<string, string> },
  ): Promise<Response>;
  forget(address: string): void;
  /** Returns the `Cookie` header for a request to this URL. */
  cookies(address: string): string;
}

/**
 * Creates a browser without cookies.
 * @param ends matches the paths that the browser stops at, even if the response redirects
 */
export function createWalkingBrowser(ends: RegExp): WalkingBrowser {
  const jars = new Map<string, Map<string, string>>();
  const jarOf = (address: string) => {
    const { host } = new URL(address);
    const jar = jars.get(host) ?? new Map<string, string>();
    jars.set(host, jar);
    return jar;
  };
  const cookies = (address: string) => [...jarOf(address)].map(([name, value]) => `${name}=${value}`).join('; ');
  const step: WalkingBrowser['step'] = async (address, { form, headers = {} } = {}) => {
    const response = await fetch(address, {
      method: form ? 'POST' : 'GET',
      redirect: 'manual',
      // Browsers do not send `SameSite=Lax` cookies with a form that another site posts.
      headers: { ...(form ? {} : { cookie: cookies(address) }), ...headers },
      ...(form && { body: new URLSearchParams(form) }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '' || /Max-Age=0/.test(line)) jarOf(address).delete(name);
      else jarOf(address).set(name, value);
    }
    return response;
  };
  return {
    cookies,
    forget: (address) => jarOf(address).clear(),
    step,
    async walk(address, request) {
      let [at, next] = [address, request];
      for (let steps = 0; steps < 20; steps += 1) {
        const response = await step(at, next);
        await response.arrayBuffer();
        const location = response.headers.get('location');
        if (location === null) return new URL(at);
        at = new URL(location, at).href;
        next = undefined;
        if (ends.test(new URL(at).pathname)) return new URL(at);
      }
      throw new Error('The way leads around.');
    },
  };
}
