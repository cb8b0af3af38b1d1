import type { InitOptions, Options } from '../client/client.ts';
import type { Log } from '../client/core.ts';
import { page } from '../page/globals.ts';

/** Returns the defaults of options that every build has. Options that are not listed are off. */
export function getDefaultOptions(): Partial<Options> {
  const { hostname = '', protocol = '', search = '' } = page?.location ?? {};
  return {
    defaults: 'unset',
    persistence: 'localStorage+cookie',
    cookie_expiration: 365,
    // On shared hosting domains, each subdomain belongs to a different customer.
    cross_subdomain_cookie: !/(herokuapp\.com|vercel\.app|netlify\.app)$/.test(hostname),
    secure_cookie: protocol === 'https:',
    opt_out_capturing_persistence_type: 'localStorage',
    person_profiles: 'identified_only',
    bootstrap: {},
    feature_flag_request_timeout_ms: 3000,
    feature_flag_request_max_retries: 1,
    flushAt: 20,
    request_batching: true,
    request_queue_config: {},
    request_headers: {},
    session_idle_timeout_seconds: 1800,
    property_denylist: [],
    properties_string_max_length: 65_535,
    get_device_id: (id) => id,
    remote_config_refresh_interval_ms: 300_000,
    debug: search.includes('__posthog_debug=true'),
    loaded() {},
  };
}

export type ReadOptions = (given: InitOptions | undefined, log: Log) => Partial<Options>;

/** Reads options without checking them. Only the full build reports mistakes and supports former option names. */
export const readUncheckedOptions: ReadOptions = (given) => {
  const options: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(Object(given))) {
    if (value === undefined) continue;
    options[name] = name.endsWith('_host') && typeof value === 'string' ? value.trim().replace(/\/+$/, '') : value;
  }
  return options;
};
