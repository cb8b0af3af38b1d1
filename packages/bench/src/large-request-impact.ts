import { gzipSync } from 'node:zlib';
import type { ImpactMeasurement } from './report/gateway-report.ts';
import { fillerProperties } from './workload/filler-properties.ts';

const batchBytes = 20 * 1000 * 1000;
const eventBytes = 1000;
const pauseMs = 250;

/** A batch of 20 MB in gzip, as an import or a server that was cut off for a while sends it. */
function largeBatch(projectApiKey: string): Buffer {
  const batch = Array.from({ length: batchBytes / eventBytes }, (_, index) => ({
    event: 'imported',
    distinct_id: `user-${index}`,
    properties: fillerProperties(index, eventBytes - 60),
  }));
  return gzipSync(JSON.stringify({ api_key: projectApiKey, batch }));
}

/**
 * How long small requests wait, alone and while one large batch after the other is sent beside them, turn about.
 *
 * @param p99OfSmall one run of small requests at a steady rate.
 */
export async function measureLargeRequestImpact(
  { port, projectApiKey, pairs }: { port: number; projectApiKey: string; pairs: number },
  p99OfSmall: () => Promise<number>,
): Promise<ImpactMeasurement> {
  const body = new Uint8Array(largeBatch(projectApiKey));
  const measured: ImpactMeasurement = { alone: [], beside: [], batches: 0 };

  async function post(): Promise<void> {
    const response = await fetch(`http://127.0.0.1:${port}/batch/`, { method: 'POST', body });
    if (response.status !== 200) throw new Error(`The large batch was answered with ${response.status}.`);
    await response.arrayBuffer();
  }

  // The first one starts what the others find.
  await post();
  for (let pair = 0; pair < pairs; pair++) {
    measured.alone.push(await p99OfSmall());
    let isOver = false;
    const small = p99OfSmall().finally(() => {
      isOver = true;
    });
    while (!isOver) {
      await post();
      measured.batches += 1;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    measured.beside.push(await small);
  }
  return measured;
}
