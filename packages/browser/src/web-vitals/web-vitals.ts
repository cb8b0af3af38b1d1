import type { Core, Feature, RemoteConfig } from '../client/core.ts';

/** Measures page performance. Captures the given metrics, or all metrics if `names` is undefined. */
export type CaptureVitals = (core: Core, names: readonly string[] | undefined) => void;

/** Captures `$web_vitals` events if the application or the environment's settings request them. */
export function createWebVitals(captureVitals: CaptureVitals): Feature {
  return (core) => {
    let isStarted = false;
    core.signals.on('remoteConfig', (config) => {
      const { web_vitals, web_vitals_allowed_metrics: names } = wantedVitals(core, config);
      if (isStarted || !web_vitals || names?.length === 0 || !/^https?:$/.test(location.protocol)) return;
      isStarted = true;
      captureVitals(core, names ?? undefined);
    });
    return undefined;
  };
}

/** The application's options override the environment's settings. */
function wantedVitals({ options: { capture_performance: own } }: Core, config: RemoteConfig | null) {
  const chosen = typeof own === 'object' ? own : own !== undefined && { web_vitals: own };
  return { ...config?.millrace, ...chosen } as NonNullable<RemoteConfig['millrace']>;
}
