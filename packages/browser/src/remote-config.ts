// Loads the environment's settings, such as whether errors are captured.

import type { Core, RemoteConfig } from './client/core.ts';
import type { JsonValue } from './client/values.ts';
import { attempt, readFromWindow } from './page/globals.ts';

declare global {
  interface Window {
    /** Settings by project token, set by `/array/<token>/array.js` or `/array/<token>/config.js`. */
    _POSTHOG_REMOTE_CONFIG?: Record<string, { config?: RemoteConfig }>;
  }
}

/**
 * Emits the environment's settings once. They come from the page, from the service, or from storage if the service is
 * unavailable. The client requests them as data instead of a script, because a page's content security policy may
 * forbid scripts.
 */
export function createRemoteConfig({ token, options, store: { area }, sender, signals, url }: Core): undefined {
  const key = `ph_${token}_remote_config`;
  // Run in a separate task, because loading settings is not urgent while a page starts.
  setTimeout(async () => signals.emit('remoteConfig', await load()));

  async function load(): Promise<RemoteConfig | null> {
    const ofPage = readFromWindow('_POSTHOG_REMOTE_CONFIG')?.[token]?.config;
    if (ofPage) return remember(ofPage);
    if (options.advanced_disable_flags) return null;
    const { status, json } = await sender.request(url(`/array/${token}/config`, 'assets'), {
      method: 'GET',
      timeoutMs: options.feature_flag_request_timeout_ms,
    });
    return status === 200 && isObject(json) ? remember(json as RemoteConfig) : remembered();
  }

  function remember(config: RemoteConfig): RemoteConfig {
    // If storage is full or blocked, the next page requests the settings again.
    attempt(() => area?.setItem(key, JSON.stringify(config)));
    return config;
  }

  const remembered = () => attempt((): RemoteConfig => JSON.parse(area?.getItem(key) ?? 'null')) ?? null;
}

const isObject = (json: JsonValue) => typeof json === 'object' && json !== null && !Array.isArray(json);
