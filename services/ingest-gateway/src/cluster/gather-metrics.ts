import type { Worker } from 'node:cluster';
import { type MetricsPart, sumMetrics } from '@millrace/runtime';
import type { FromGateway, ToGateway } from './process-messages.ts';

interface Gathering {
  missing: number;
  parts: MetricsPart[];
  finish(): void;
}

/** A process that is busy, starting or ending is not waited for any longer. */
const gatherForMs = 1000;

/** Collects the figures of all processes for the one that was asked. */
export function createMetricsGatherer(gateways: ReadonlySet<Worker>) {
  const gatherings = new Map<number, Gathering>();
  let gathered = 0;

  function gather(asker: Worker, question: number): void {
    gathered += 1;
    const own = gathered;
    const timer = setTimeout(() => gathering.finish(), gatherForMs);
    const gathering: Gathering = {
      missing: gateways.size,
      parts: [],
      finish() {
        clearTimeout(timer);
        gatherings.delete(own);
        void sumMetrics(gathering.parts).then((text) => tell(asker, { type: 'all-metrics', question, text }));
      },
    };
    gatherings.set(own, gathering);
    for (const gateway of gateways) tell(gateway, { type: 'own-metrics-wanted', question: own });
  }

  return {
    onMessage(from: Worker, message: FromGateway): void {
      if (message.type === 'all-metrics-wanted') gather(from, message.question);
      if (message.type !== 'own-metrics') return;
      const gathering = gatherings.get(message.question);
      if (gathering === undefined) return;
      gathering.parts.push(message.metrics);
      gathering.missing -= 1;
      if (gathering.missing === 0) gathering.finish();
    },
  };
}

function tell(gateway: Worker, message: ToGateway): void {
  // A process that is ending gets no message any more.
  if (gateway.isConnected()) gateway.send(message, () => {});
}
