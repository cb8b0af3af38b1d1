import type { IncomingMessage } from 'node:http';
import type { TopicNames } from '@millrace/contracts';
import type { EventLog } from '@millrace/event-log';
import type { ProjectKeys } from '../access/project-keys.ts';
import type { Answer, Refusal } from '../answer/send-answer.ts';
import type { Serving } from '../answer/serve-request.ts';
import type { ByteLease } from '../body/byte-budget.ts';
import type { CaptureLimits } from '../config.ts';
import type { LargeBodies } from '../large-bodies/large-bodies.ts';
import type { TrafficControl } from '../limits/traffic-control.ts';
import type { IncomingRequest } from '../readers/classic.ts';
import type { DropTally } from '../readers/drops.ts';
import type { CaptureMetrics } from './capture-metrics.ts';

/** How one request becomes events, and how it is answered: all that differs between the protocols of capture. */
export interface CaptureReader {
  /** The path's name in metrics and in the log. */
  path: string;
  /** The name an event without one gets; null: such an event is dropped (docs/wire-rules.md#dropped-events). */
  nameForNameless: string | null;
  /** What a record of the log may hold. */
  maxRecordBytes: number;
  /** Whether the request is refused for an event that is too large. Otherwise the event is dropped, unless it is alone. */
  refusesLargeEvents: boolean;
  /**
   * From the headers of the request to its events, each of them validated. A large body is read in a thread.
   * @throws AppError for a request that is refused as a whole.
   */
  read(request: IncomingMessage, lease: ByteLease): Promise<ReadRequest>;
  toRefusal(error: unknown): Refusal;
}

/** A request whose events were found. */
export interface ReadRequest extends IncomingRequest {
  /** Where the events that are left out are counted, with a sample of each reason. */
  dropped: DropTally;
  /** Whether the sender comes again after 429; everybody does after 503. */
  retriesOn429: boolean;
  /** @param outcome `accepted`: all that was not dropped is in the log. `quota_limited`: nothing is. */
  answer(outcome: 'accepted' | 'quota_limited'): Promise<Answer>;
}

/** What capture is served with. */
export interface CaptureDependencies extends Serving {
  log: Pick<EventLog, 'append'>;
  topics: TopicNames;
  projectKeys: ProjectKeys;
  traffic: TrafficControl;
  largeBodies: Pick<LargeBodies, 'find' | 'findInParts' | 'findV1'>;
  limits: CaptureLimits;
  metrics: CaptureMetrics;
}
