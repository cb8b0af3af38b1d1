import type { Metrics } from '@millrace/runtime';
import type { FromGateway, ToGateway } from './process-messages.ts';

/** What is used of a process that was started with a channel. */
export interface Channel {
  connected?: boolean;
  send?(message: FromGateway): unknown;
  on(event: 'message', listener: (message: ToGateway) => void): unknown;
}

/** When the primary process does not answer, the metrics of this process alone are better than none. */
const answerWithinMs = 2000;

/** The text of `/metrics` for all processes of the gateway: whichever is asked, the answer is the same. */
export function createSharedMetrics(metrics: Metrics, channel: Channel): () => Promise<string> {
  const asking = new Map<number, (text: string) => void>();
  let questions = 0;

  channel.on('message', (message) => {
    if (message.type === 'all-metrics') asking.get(message.question)?.(message.text);
    if (message.type === 'own-metrics-wanted') void sendOwn(message.question);
  });

  async function sendOwn(question: number): Promise<void> {
    const own = await metrics.registry.getMetricsAsJSON();
    if (channel.connected) channel.send?.({ type: 'own-metrics', question, metrics: own });
  }

  return async () => {
    // This process is stopping.
    if (channel.connected !== true) return metrics.registry.metrics();
    questions += 1;
    const question = questions;
    let timer: NodeJS.Timeout | undefined;
    const answer = new Promise<string | null>((resolve) => {
      asking.set(question, resolve);
      timer = setTimeout(() => resolve(null), answerWithinMs);
      channel.send?.({ type: 'all-metrics-wanted', question });
    });
    const text = await answer;
    clearTimeout(timer);
    asking.delete(question);
    return text ?? metrics.registry.metrics();
  };
}
