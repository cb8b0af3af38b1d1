import { type TopicNames, topicNames } from '@millrace/contracts';
import { createDatabase } from '@millrace/db';
import {
  createKafkaLog,
  createPostgresLog,
  type EventLog,
  kafkaConfigFields,
  kafkaConnection,
} from '@millrace/event-log';
import { ConfigError, createLogger, isAppError, readConfig } from '@millrace/runtime';
import type { Command } from 'commander';
import { Type } from 'typebox';
import { Refusal, UsageError } from './failures.ts';
import type { Terminal } from './output.ts';
import { type GlobalOptions, readDatabaseUrl } from './session.ts';

/** The settings of the services, so that the same environment serves both. */
const logConfigSchema = Type.Object({
  eventLog: Type.Union([Type.Literal('kafka'), Type.Literal('postgres')], {
    default: 'kafka',
    description: 'kafka or postgres',
  }),
  ...kafkaConfigFields,
  topicPrefix: Type.String({ default: '', description: 'put before every topic and group name' }),
});

export interface OpenLog {
  log: EventLog;
  topics: TopicNames;
}

/** Runs work on the event log that the environment names (EVENT_LOG, KAFKA_…, TOPIC_PREFIX), and closes it afterwards. */
export async function withLog(
  command: Command,
  terminal: Terminal,
  work: (open: OpenLog) => Promise<void>,
): Promise<void> {
  const { config, connection } = readLogSettings(terminal);
  const logger = createLogger('millrace-cli', 'error');
  // Joining and leaving a group is news to a service, not to a person.
  logger.silent = true;
  const topics = topicNames(config.topicPrefix);
  const open = (log: EventLog) => work({ log, topics }).catch((error) => Promise.reject(namingLog(error, config)));
  if (config.eventLog === 'kafka') {
    const log = createKafkaLog({ ...connection, clientId: 'millrace-cli', logger });
    return open(log).finally(() => log.close());
  }
  const url = readDatabaseUrl(command.optsWithGlobals<GlobalOptions>(), terminal);
  const database = createDatabase({ url, logger, poolSize: 3, queryTimeoutMs: 6000 });
  const log = createPostgresLog({ database, logger });
  return open(log)
    .finally(() => log.close())
    .finally(() => database.stop());
}

export type LogSettings = ReturnType<typeof readLogSettings>;

/** The log says what is the matter with it; which log it is, and where, is known here. */
function namingLog(error: unknown, { eventLog, kafkaBrokers }: LogSettings['config']): unknown {
  if (!isAppError(error, 'unavailable')) return error;
  const where = eventLog === 'kafka' ? `Kafka at ${kafkaBrokers}, from KAFKA_BROKERS` : 'PostgreSQL';
  return new Refusal(
    `EVENT_LOG=${eventLog} (${where}): ${error.message} Are EVENT_LOG, KAFKA_… and TOPIC_PREFIX those of the services?`,
  );
}

/** @throws UsageError with all that is wrong in the environment, and when it does not say where the log is. */
export function readLogSettings(terminal: Terminal) {
  if (!terminal.env.EVENT_LOG && !terminal.env.KAFKA_BROKERS) {
    throw new UsageError(
      'EVENT_LOG: say where the event log is, as the services know it: EVENT_LOG=postgres, or EVENT_LOG=kafka with KAFKA_BROKERS',
    );
  }
  try {
    const config = readConfig(logConfigSchema, terminal.env);
    return { config, connection: kafkaConnection(config) };
  } catch (error) {
    throw error instanceof ConfigError ? new UsageError(error.problems.join('; ')) : error;
  }
}
