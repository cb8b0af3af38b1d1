import cluster, { type Worker } from 'node:cluster';
import { type Logger, type Metrics, type MetricsPart, type Stoppable, sumMetrics } from '@millrace/runtime';

interface GatewayProcesses extends Stoppable {
  /** The port, once all of them listen on it; rejects when one ends before. */
  listening: Promise<number>;
}

/** A process that ended so soon after its start is not started again at once: what ended it may still be there. */
const soonMs = 5000;
const restMs = 1000;

/**
 * Starts this program `count` times, all on one port. A process that ends is replaced. Stopping lets all of them finish
 * their requests.
 *
 * Each process accepts connections from the port itself. Node could distribute them more evenly, but then connections
 * on their way to a process that stops would be lost.
 */
export function startProcesses(count: number, logger: Logger): GatewayProcesses {
  const gateways = new Set<Worker>();
  const metrics = createMetricsGatherer(gateways);
  let isStopping = false;
  let listeningYet = 0;
  let settle: { resolve(port: number): void; reject(error: Error): void };
  const listening = new Promise<number>((resolve, reject) => {
    settle = { resolve, reject };
  });

  function start(): void {
    if (isStopping) return;
    const gateway = cluster.fork();
    const startedAt = performance.now();
    gateways.add(gateway);
    gateway.on('message', (message: FromGateway) => {
      if (message.type === 'listening') {
        listeningYet += 1;
        if (listeningYet === count) settle.resolve(message.port);
      }
      metrics.onMessage(gateway, message);
    });
    gateway.on('exit', (code, signal) => {
      gateways.delete(gateway);
      if (isStopping) return;
      if (listeningYet < count) {
        settle.reject(new Error(`A gateway process exited during startup (${signal ?? code}).`));
        return;
      }
      logger.error('a gateway process exited unexpectedly; starting a new one', { code, signal });
      setTimeout(start, performance.now() - startedAt < soonMs ? restMs : 0);
    });
  }

  cluster.schedulingPolicy = cluster.SCHED_NONE;
  for (let number = 0; number < count; number++) start();
  return {
    listening,
    async stop() {
      isStopping = true;
      const ended = [...gateways].map((gateway) => new Promise((resolve) => gateway.once('exit', resolve)));
      for (const gateway of gateways) gateway.process.kill('SIGTERM');
      await Promise.all(ended);
    },
  };
}

interface Gathering {
  missing: number;
  parts: MetricsPart[];
  finish(): void;
}

/** A process that is busy, starting or ending is not waited for any longer. */
const gatherForMs = 1000;

/** Collects the figures of all processes for the one that was asked. */
function createMetricsGatherer(gateways: ReadonlySet<Worker>) {
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

/** What is used of a process that was started with a channel. */
interface Channel {
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

/** Messages of a gateway process to the primary process. */
type FromGateway =
  | { type: 'listening'; port: number }
  /** Somebody asked this process for the figures of all. */
  | { type: 'all-metrics-wanted'; question: number }
  | { type: 'own-metrics'; question: number; metrics: MetricsPart };

/** Messages of the primary process. */
type ToGateway =
  | { type: 'own-metrics-wanted'; question: number }
  | { type: 'all-metrics'; question: number; text: string };

/**
 * Disconnects from the primary process before this one stops. The primary holds the port as well. If it held it longer
 * than the last process that takes connections, some connections would come that nobody takes. Does nothing in a
 * process that runs alone.
 */
export function leaveCluster(): void {
  const { worker } = cluster;
  if (worker === undefined || !process.connected) return;
  // Otherwise Node ends the process together with its channel.
  worker.exitedAfterDisconnect = true;
  process.disconnect();
}
