import type { Core, RemoteConfig } from './client/core.ts';
import type { JsonValue } from './client/values.ts';
import { attempt, ofWindow } from './page/globals.ts';

declare global {
  interface Window {
    /** By token; put there by `/array/<token>/array.js` or `/array/<token>/config.js`. */
    _POSTHOG_REMOTE_CONFIG?: Record<string, { config?: RemoteConfig }>;
  }
}

/**
 * Tells the other parts what the environment's settings are, once: as the page has them, as the service answers them, or as
 * they were when the service was last heard. Asked for as data and not as a script, which a page's policy may forbid.
 */
export function createRemoteConfig({ token, options, store: { area }, sender, signals, url }: Core): undefined {
  const key = `ph_${token}_remote_config`;
  // In a task of its own: a page that starts has enough to do, and this can wait.
  setTimeout(async () => signals.emit('remoteConfig', await load()));

  async function load(): Promise<RemoteConfig | null> {
    const ofPage = ofWindow('_POSTHOG_REMOTE_CONFIG')?.[token]?.config;
    if (ofPage) return remember(ofPage);
    if (options.advanced_disable_flags) return null;
    const { status, json } = await sender.request(url(`/array/${token}/config`, 'assets'), {
      method: 'GET',
      timeoutMs: options.feature_flag_request_timeout_ms,
    });
    return status === 200 && isObject(json) ? remember(json as RemoteConfig) : remembered();
  }

  function remember(config: RemoteConfig): RemoteConfig {
    // Where storage is full or forbidden, the next page asks again anyway.
    attempt(() => area?.setItem(key, JSON.stringify(config)));
    return config;
  }

  const remembered = () => attempt((): RemoteConfig => JSON.parse(area?.getItem(key) ?? 'null')) ?? null;
}

const isObject = (json: JsonValue) => typeof json === 'object' && json !== null && !Array.isArray(json);
