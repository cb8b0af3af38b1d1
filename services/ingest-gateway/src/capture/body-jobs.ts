// Defines the jobs and results of the threads for large bodies. A result contains JSON and the positions of its events
// (json/scan.ts), because both can be transferred between threads without copying.

import type { BodyHints } from '../body/decode.ts';
import type { LargeBodies } from '../large-bodies/large-bodies.ts';
import type { BodyJob as AnyJob } from '../large-bodies/messages.ts';
import type { ParsedRequest, RequestHints } from './classic-request.ts';
import type { MultipartBody } from './multipart.ts';
import type { ValidatedBatch } from './v1-batch.ts';
import type { V1Head } from './v1-request.ts';

export type BodyJob = ClassicJob | MultipartJob | V1Job;

export interface ClassicJob extends AnyJob {
  type: 'classic';
  hints: BodyHints;
  request: RequestHints;
  maxDecompressedBytes: number;
}

export interface MultipartJob extends AnyJob, Omit<MultipartBody, 'raw'> {
  type: 'multipart';
  request: RequestHints;
  maxDecompressedBytes: number;
  maxRecordBytes: number;
}

/** A Capture v1 body whose API key was already checked. */
export interface V1Job extends AnyJob {
  type: 'v1';
  hints: BodyHints;
  sdk: V1Head['sdk'];
  maxDecompressedBytes: number;
}

/** The JSON of a body, and the positions of the valid events in it. */
export interface ScannedEvents {
  json: Uint8Array;
  slots: Int32Array<ArrayBuffer>;
  length: number;
}

export interface ScannedRequest extends Omit<ParsedRequest, 'events'> {
  kind: 'request';
  events: ScannedEvents;
}

export interface ScannedBatch extends Omit<ValidatedBatch, 'events' | 'uuids'> {
  kind: 'batch';
  events: ScannedEvents;
  /** The UUIDs, separated by commas, because a single string is transferred between threads in one step. */
  uuids: string;
}

export type BodyResult = ScannedRequest | ScannedBatch;

export type CaptureThreads = LargeBodies<BodyJob, BodyResult>;
