import { inspectRedis, type RedisConnection, redisConfigFields, redisConnection } from '@millrace/cache';
import type { Database } from '@millrace/db';
import { type InspectedTopic, inspectKafka, kafkaConfigFields, kafkaConnection } from '@millrace/event-log';
import { ConfigError, type Logger, readConfig } from '@millrace/runtime';
import { Type } from 'typebox';
import { type ReadOffset, readStoredOffsets } from '../log/stored-offsets.ts';
import { checkStoredOffsets } from './check-stored-offsets.ts';
import { type DoctorSettings, doctorSettingsSchema } from './doctor-settings.ts';
import { type NamedFinding, ok, problem, warning } from './finding.ts';
import { kafkaChecks, namesOfTopics } from './kafka/kafka-checks.ts';
import { postgresChecks } from './postgres/postgres-checks.ts';
import { reasonOf } from './reason-of.ts';
import { checkRedis } from './redis/check-redis.ts';
import { checkTimeoutMs, runChecks } from './run-checks.ts';
import { checkCertificates } from './settings/check-certificates.ts';
import { checkSettings } from './settings/check-settings.ts';

export interface Patient {
  env: Record<string, string | undefined>;
  database: Pick<Database, 'sql' | 'listen' | 'prisma'>;
  /** The folder with the migrations of this version. */
  prismaDirectory: string;
  logger: Logger;
}

/** Looks at settings, certificates and all stores, side by side; a store that is away keeps none from being looked at. */
export async function diagnose(patient: Patient): Promise<NamedFinding[]> {
  const { env } = patient;
  const read = readPart('settings', () => readConfig(doctorSettingsSchema, env));
  // With the defaults what can be looked at is.
  const settings = 'value' in read ? read.value : readConfig(doctorSettingsSchema, {});
  const [postgres, redis, log] = await Promise.all([
    diagnosePostgres(patient, settings),
    diagnoseRedis(patient),
    diagnoseLog(patient, settings),
  ]);
  const ofSettings = await runChecks([
    { name: 'settings', look: () => ('value' in read ? checkSettings(settings, env) : []) },
    { name: 'certificates', look: () => checkCertificates(env) },
  ]);
  return [...('problems' in read ? read.problems : []), ...ofSettings, ...postgres, ...redis, ...log];
}

async function diagnosePostgres(patient: Patient, settings: DoctorSettings): Promise<NamedFinding[]> {
  const { database, prismaDirectory } = patient;
  const away = await reach('postgresql server', () => database.sql.query('SELECT 1'), 'DATABASE_URL');
  if (away !== null) return [away];
  return runChecks(postgresChecks(database, { settings, prismaDirectory }));
}

async function diagnoseRedis({ env }: Patient): Promise<NamedFinding[]> {
  const read = readPart('redis', () => redisConnection(readConfig(Type.Object(redisConfigFields), env)));
  if ('problems' in read) return read.problems;
  const { value: connection } = read;
  if (connection === undefined) {
    return [{ check: 'redis', ...ok('REDIS_URL is not set: each process counts limits alone') }];
  }
  return runChecks([{ name: 'redis', look: () => lookAtRedis(connection) }]);
}

async function lookAtRedis(connection: RedisConnection) {
  try {
    return checkRedis(await inspectRedis(connection, checkTimeoutMs - 500));
  } catch (error) {
    return [notReached(error, 'REDIS_URL')];
  }
}

async function diagnoseLog(patient: Patient, settings: DoctorSettings): Promise<NamedFinding[]> {
  const { env } = patient;
  if (settings.eventLog === 'postgres') {
    return runChecks(offsetChecks(settings, await readOffsets(patient, [])));
  }
  // The management API and delivery workers are told of none.
  if (!env.EVENT_LOG && !env.KAFKA_BROKERS) return [{ check: 'event log', ...noLog }];
  return diagnoseKafka(patient, settings);
}

const noLog = warning(
  'neither EVENT_LOG nor KAFKA_BROKERS is set: the event log was not looked at',
  'run this with the settings of a gateway or a consumer too',
);

async function diagnoseKafka(patient: Patient, settings: DoctorSettings): Promise<NamedFinding[]> {
  const { env, logger } = patient;
  const read = readPart('kafka', () => kafkaConnection(readConfig(Type.Object(kafkaConfigFields), env)));
  if ('problems' in read) return read.problems;
  const kafka = inspectKafka({ ...read.value, clientId: 'millrace-doctor', logger }, checkTimeoutMs - 500);
  try {
    let existing: string[] = [];
    const asked = async () => {
      existing = await kafka.existing(namesOfTopics(settings));
    };
    const away = await reach('kafka', asked, 'KAFKA_BROKERS');
    if (away !== null) return [away];
    const topics: InspectedTopic[] = [];
    const ofTopics = await runChecks(
      existing.map((name) => ({
        name: 'kafka topics',
        async look() {
          topics.push(await kafka.topic(name));
          return [];
        },
      })),
    );
    const offsets = await readOffsets(patient, topics);
    const checks = kafkaChecks({ kafka, settings, existing, topics, offsets: offsets ?? [] });
    const found = await runChecks([...checks, ...offsetChecks(settings, offsets)]);
    return [{ check: 'kafka', ...ok('Kafka answers') }, ...ofTopics, ...found];
  } finally {
    await kafka.close();
  }
}

/** Null when PostgreSQL does not answer, or has no tables yet: both are said elsewhere. */
function readOffsets({ database }: Patient, topics: readonly InspectedTopic[]): Promise<ReadOffset[] | null> {
  const endOffsets = async (name: string) => {
    const found = topics.find(({ topic }) => topic === name);
    return (found?.partitions ?? []).map(({ partition, high }) => ({
      ...{ partition, log: found?.log ?? '', endOffset: high },
    }));
  };
  return readStoredOffsets(database.prisma, { endOffsets }).catch(() => null);
}

function offsetChecks(settings: DoctorSettings, offsets: ReadOffset[] | null) {
  if (offsets === null) return [];
  return [{ name: 'stored offsets', look: () => checkStoredOffsets(offsets, namesOfTopics(settings)) }];
}

/** A finding when the server does not answer. @param setting where its address is. */
async function reach(check: string, ask: () => Promise<unknown>, setting: string): Promise<NamedFinding | null> {
  const [failure] = await runChecks([
    {
      name: check,
      look: () =>
        ask().then(
          () => [],
          (error: unknown) => [notReached(error, setting)],
        ),
    },
  ]);
  return failure ?? null;
}

function notReached(error: unknown, setting: string) {
  return problem(
    `does not answer: ${reasonOf(error)}`,
    `is the server up, is ${setting} right, and is the network open between here and there`,
  );
}

/** Part of the settings, or what is wrong with them. */
function readPart<T>(check: string, read: () => T): { value: T } | { problems: NamedFinding[] } {
  try {
    return { value: read() };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const advice = 'set it as docs/configuration.md says; a service that reads it does not start';
    return { problems: error.problems.map((found) => ({ check, ...problem(found, advice) })) };
  }
}
