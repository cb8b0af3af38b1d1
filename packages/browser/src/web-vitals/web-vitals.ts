import type { Core, Feature } from '../client/core.ts';
import type { RemoteConfig } from '../client/remote-config.ts';
import type { Properties } from '../client/values.ts';
import { measureVitals } from './measure-vitals.ts';
import type { Vital } from './vital.ts';

/** Longer is a broken clock, or a page that slept. */
const longestMs = 15 * 60 * 1000;
/** The other metrics of a page are waited for so long. */
const flushMs = 5000;

/** Captures `$web_vitals` when the application or the environment's settings ask for it. */
export const createWebVitals: Feature = (core) => {
  const stop = new AbortController();
  let isStarted = false;
  core.signals.on('remoteConfig', (config) => {
    const names = wantedVitals(core, config);
    if (isStarted || names.length === 0 || !/^https?:$/.test(location.protocol)) return;
    isStarted = true;
    captureVitals(core, names, stop.signal);
  });
  core.signals.on('shutdown', () => stop.abort());
  return undefined;
};

const all: readonly string[] = ['CLS', 'FCP', 'INP', 'LCP'];

function wantedVitals({ options }: Core, config: RemoteConfig | null): readonly string[] {
  const own = options.capture_performance;
  const settings = config?.capturePerformance;
  const asked = typeof settings === 'object' ? settings : undefined;
  const chosen = typeof own === 'object' ? own : { web_vitals: own };
  if (!(chosen.web_vitals ?? asked?.web_vitals)) return [];
  return chosen.web_vitals_allowed_metrics ?? asked?.web_vitals_allowed_metrics ?? all;
}

function captureVitals({ client, signals, capture }: Core, names: readonly string[], signal: AbortSignal): void {
  let waiting: Properties = {};
  let address = '';
  let timer: ReturnType<typeof setTimeout> | undefined;

  const flush = (isLeaving = false) => {
    clearTimeout(timer);
    const properties = waiting;
    waiting = {};
    if (Object.keys(properties).length === 0) return;
    const options = isLeaving ? ({ transport: 'sendBeacon', send_instantly: true } as const) : undefined;
    capture('$web_vitals', { $current_url: address, ...properties }, options);
  };
  const add = (vital: Vital) => {
    if (!names.includes(vital.name) || vital.value >= longestMs) return;
    if (address !== location.href) flush();
    address = location.href;
    if (Object.keys(waiting).length === 0) timer = setTimeout(flush, flushMs);
    waiting[`$web_vitals_${vital.name}_event`] = {
      ...vital,
      $current_url: address,
      timestamp: Date.now(),
      $session_id: client.get_session_id(),
    };
    waiting[`$web_vitals_${vital.name}_value`] = vital.value;
    if (Object.keys(waiting).length === 2 * names.length) flush();
  };

  const finish = measureVitals({ report: add, signal });
  const leave = () => {
    finish();
    flush(true);
  };
  const onHidden = () => document.visibilityState === 'hidden' && leave();
  document.addEventListener('visibilitychange', onHidden, { signal });
  signals.on('leaving', leave);
}
