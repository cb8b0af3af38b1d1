import type { Core } from '../client/core.ts';
import type { Properties } from '../client/values.ts';
import { maskAddress } from '../origin/campaign.ts';
import { stopSignal } from '../page/stop-signal.ts';
import { measureVitals } from './measure-vitals.ts';
import { rate, type TellVital, vitalLimits } from './vital.ts';

/** Longer is a broken clock, or a page that slept. */
const longestMs = 15 * 60 * 1000;
/** The other metrics of a page are waited for so long. */
const flushMs = 5000;

/**
 * Measures a page and captures what it finds.
 * @param names of all metrics where they are not given
 */
export function captureVitals(core: Core, names: readonly string[] = Object.keys(vitalLimits)): void {
  const told: Record<string, number> = {};
  let waiting: Properties = {};
  let address = '';
  let timer: ReturnType<typeof setTimeout> | undefined;

  const flush = (isLeaving = false) => {
    clearTimeout(timer);
    const properties = waiting;
    waiting = {};
    const options = isLeaving ? ({ transport: 'sendBeacon' } as const) : undefined;
    if (timer && !signal.aborted) core.capture('$web_vitals', { $current_url: address, ...properties }, options);
    timer = undefined;
  };
  const tell: TellVital = (name, value, attribution) => {
    const { [name]: before = 0 } = told;
    if (!names.includes(name) || value >= longestMs || told[name] === value) return;
    told[name] = value;
    const masked = maskAddress(location.href, core.options.mask_personal_data_properties);
    if (address !== masked) flush();
    address = masked;
    timer ??= setTimeout(flush, flushMs);
    const delta = value - before;
    const vital = { name, value, rating: rate(name, value), delta, ...(attribution && { attribution }) };
    const at = { $current_url: address, timestamp: Date.now(), $session_id: core.client.get_session_id() };
    waiting[`$web_vitals_${name}_event`] = { ...vital, ...at };
    waiting[`$web_vitals_${name}_value`] = value;
    if (Object.keys(waiting).length === 2 * names.length) flush();
  };

  const signal = stopSignal(core);
  const finish = measureVitals(tell, signal);
  const leave = () => {
    finish();
    flush(true);
  };
  const onHidden = () => document.visibilityState === 'hidden' && leave();
  document.addEventListener('visibilitychange', onHidden, { signal });
  core.signals.on('leaving', leave);
}
