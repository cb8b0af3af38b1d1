export interface EvaluatorMeasurement {
  side: 'millrace' | 'posthog-node';
  /** How many flags are evaluated at once. */
  flags: number;
  cpuMicros: number;
}

/** One run of requests against one server. */
export interface RequestRun {
  requestsPerSecond: number;
  /** Of the server for each answered request. */
  cpuMicros: number;
  /** CPU of PostgreSQL's processes; NaN where it cannot be seen. */
  databaseMicros: number;
  p50Ms: number;
  p99Ms: number;
  maxRssBytes: number;
  /** Answers other than the expected one, by status; 0 = the connection broke. */
  otherStatuses: Record<string, number>;
}

export interface QuestionMeasurement {
  side: 'millrace' | 'unleash';
  loop: 'closed' | 'open';
  runs: RequestRun[];
}

/** As fast as it goes, and at 1,000 requests a second. */
export interface PersonReads {
  closed: RequestRun[];
  open: RequestRun[];
}

export interface DefinitionMeasurement {
  status: 200 | 304;
  /** Of the body. */
  bytes: number;
  runs: RequestRun[];
}

/** 99th percentiles of events in a closed loop, milliseconds, turn about with and without questions beside. */
export interface BesideIngest {
  alone: number[];
  beside: number[];
  questionsPerSecond: number;
  /** Of the questions. */
  otherStatuses: Record<string, number>;
}

export interface MemoryMeasurement {
  projects: number;
  /** What the heap and buffers grew by, collected before and after. */
  keptBytes: number;
  rssBytes: number;
  /** What the service itself believes that it keeps. */
  countedBytes: number;
  /** Of the projects asked for last and of those asked for first, how many had to be read again. */
  reloadedNewest: number;
  reloadedOldest: number;
  askedAgain: number;
}

export interface LimitedMemory extends MemoryMeasurement {
  limitBytes: number;
}

export interface FlagsMeasurement {
  evaluator: EvaluatorMeasurement[];
  agreement: { values: number; agreed: number };
  /** Without runs of Unleash where it could not be had. */
  questions: QuestionMeasurement[];
  personReads: PersonReads;
  definitions: DefinitionMeasurement[];
  besideIngest: BesideIngest;
  /** With room for all of them. */
  memory: LimitedMemory;
  /** The same projects as a gateway is usually set up, and with a limit that they are far from fitting in. */
  limitedMemory: LimitedMemory[];
}
