import {
  type InspectedTopic,
  inspectKafka,
  type KafkaConnection,
  type KafkaInspection,
  kafkaConfigFields,
  kafkaConnection,
} from '@millrace/event-log';
import { readConfig } from '@millrace/runtime';
import { Type } from 'typebox';
import { type ReadOffset, readStoredOffsets } from '../../log/stored-offsets.ts';
import { checkPresented } from '../certificates/check-presented.ts';
import { checkStoredOffsets } from '../check-stored-offsets.ts';
import type { DoctorSettings } from '../doctor-settings.ts';
import { type NamedFinding, ok, warning } from '../finding.ts';
import type { Patient } from '../patient.ts';
import { patienceMs, reach, readPart } from '../reach.ts';
import { runChecks } from '../run-checks.ts';
import { brokersWithTls } from './brokers-with-tls.ts';
import { kafkaChecks, namesOfTopics } from './kafka-checks.ts';

export async function diagnoseLog(patient: Patient, settings: DoctorSettings): Promise<NamedFinding[]> {
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
  const { value: connection } = read;
  const kafka = inspectKafka({ ...connection, clientId: 'millrace-doctor', logger }, patienceMs);
  try {
    let existing: string[] = [];
    const asked = async () => {
      existing = await kafka.existing(namesOfTopics(settings));
    };
    const away = await reach('kafka', asked, 'KAFKA_BROKERS');
    // Its certificates may be why.
    if (away !== null) return [away, ...(await runChecks([certificates(connection)]))];
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
    const found = await runChecks([...checks, ...offsetChecks(settings, offsets), certificates(connection, kafka)]);
    return [{ check: 'kafka', ...ok('Kafka answers') }, ...ofTopics, ...found];
  } finally {
    await kafka.close();
  }
}

/** Checks certificates of the brokers in the settings and of those they name, to which clients connect next. */
function certificates(connection: KafkaConnection, kafka?: KafkaInspection) {
  return {
    name: 'kafka certificates',
    look: async () => checkPresented(brokersWithTls(connection, (await kafka?.brokers()) ?? []), patienceMs / 2),
  };
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
