import type { Core, Feature, RemoteConfig } from '../client/core.ts';

/** Measures a page, the metrics of these names or all. */
export type CaptureVitals = (core: Core, names: readonly string[] | undefined) => void;

/** Captures `$web_vitals` when the application or the environment's settings ask for it. */
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

/** As the settings say where the application says nothing. */
function wantedVitals({ options: { capture_performance: own } }: Core, config: RemoteConfig | null) {
  const chosen = typeof own === 'object' ? own : own !== undefined && { web_vitals: own };
  return { ...config?.millrace, ...chosen } as NonNullable<RemoteConfig['millrace']>;
}
