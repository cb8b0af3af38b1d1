// Reads and validates the Kafka connection settings.

import {
  ConfigError,
  createReloadingTls,
  createSecretReader,
  type Logger,
  type Metrics,
  readPemFile,
  readTimePerConnection,
  secretSetting,
} from '@millrace/runtime';
import type { ISocketFactory, KafkaConfig } from 'kafkajs';
import { type Static, Type } from 'typebox';
import type { AppendSettings } from '../append/transport.ts';

/**
 * The Kafka connection settings, which every service that uses Kafka includes in its config schema. Each setting is
 * read from the environment variable of the same name, for example `kafkaSslCaFile` from `KAFKA_SSL_CA_FILE`.
 */
export const kafkaConfigFields = {
  kafkaBrokers: Type.String({
    default: '127.0.0.1:9092',
    description: 'comma-separated addresses of the Kafka brokers, as host:port',
  }),
  kafkaSsl: Type.Boolean({ default: false, description: 'use TLS for connections to the brokers' }),
  kafkaSslCaFile: Type.Optional(
    Type.String({ description: 'path to the PEM file with the CA certificate of the Kafka brokers' }),
  ),
  kafkaSslCertFile: Type.Optional(
    Type.String({ description: 'path to the PEM file with a client certificate, if the brokers require one' }),
  ),
  kafkaSslKeyFile: Type.Optional(
    Type.String({
      description: 'path to the PEM file with the private key for the certificate in KAFKA_SSL_CERT_FILE',
    }),
  ),
  kafkaSaslMechanism: Type.Optional(
    Type.Union([Type.Literal('plain'), Type.Literal('scram-sha-256'), Type.Literal('scram-sha-512')], {
      description: 'SASL mechanism, if the brokers require authentication',
    }),
  ),
  ...secretSetting(
    'kafkaSaslUsername',
    Type.Optional(Type.String({ description: 'SASL user name' })),
    readTimePerConnection,
  ),
  ...secretSetting(
    'kafkaSaslPassword',
    Type.Optional(Type.String({ description: 'SASL password' })),
    readTimePerConnection,
  ),
} as const;

type ConnectionConfig = {
  readonly [Name in keyof typeof kafkaConfigFields]?: Static<(typeof kafkaConfigFields)[Name]>;
};

export type KafkaConnection = Pick<KafkaLogOptions, 'brokers' | 'ssl' | 'sasl'>;

/**
 * Converts the settings to a connection, and reads the configured files.
 * @throws ConfigError that lists all problems, but no setting values, because they may be secret
 */
export function toKafkaConnection(config: ConnectionConfig): KafkaConnection {
  const problems: string[] = [];
  const brokers = readBrokers(config.kafkaBrokers ?? '', problems);
  const ssl = readSsl(config, problems);
  const sasl = readSasl(config, problems);
  if (problems.length > 0) throw new ConfigError(problems);
  return { brokers, ...(ssl === undefined ? {} : { ssl }), ...(sasl === undefined ? {} : { sasl }) };
}

function readBrokers(text: string, problems: string[]): string[] {
  const brokers = text.split(',').map((broker) => broker.trim());
  const isAddress = (broker: string) => {
    const port = Number(/^[^\s/:]+:(\d{1,5})$/.exec(broker)?.[1]);
    return port >= 1 && port <= 65_535;
  };
  // IPv6 addresses are not supported, because kafkajs treats the first colon as the separator before the port.
  if (brokers.some((broker) => broker.startsWith('['))) {
    problems.push('KAFKA_BROKERS contains an IPv6 address. Use a host name that resolves to it instead');
  } else if (!brokers.every(isAddress)) {
    problems.push('KAFKA_BROKERS must be a comma-separated list of host:port addresses');
  }
  return brokers;
}

function readSsl(config: ConnectionConfig, problems: string[]): KafkaConnection['ssl'] {
  const { kafkaSslCaFile, kafkaSslCertFile, kafkaSslKeyFile } = config;
  const hasFiles = [kafkaSslCaFile, kafkaSslCertFile, kafkaSslKeyFile].some((file) => file !== undefined);
  if (hasFiles && !config.kafkaSsl) {
    problems.push('KAFKA_SSL must be true if KAFKA_SSL_CA_FILE, KAFKA_SSL_CERT_FILE or KAFKA_SSL_KEY_FILE is set');
  }
  if ((kafkaSslCertFile === undefined) !== (kafkaSslKeyFile === undefined)) {
    problems.push('KAFKA_SSL_CERT_FILE and KAFKA_SSL_KEY_FILE must be set together');
  }
  const files = {
    ca: readPemFile('KAFKA_SSL_CA_FILE', kafkaSslCaFile, problems),
    cert: readPemFile('KAFKA_SSL_CERT_FILE', kafkaSslCertFile, problems),
    key: readPemFile('KAFKA_SSL_KEY_FILE', kafkaSslKeyFile, problems),
  };
  if (!config.kafkaSsl || problems.length > 0) return undefined;
  return createReloadingTls(files);
}

function readSasl(config: ConnectionConfig, problems: string[]): KafkaConnection['sasl'] {
  const { kafkaSaslMechanism: mechanism } = config;
  const username = createSecretReader(config, 'kafkaSaslUsername');
  const password = createSecretReader(config, 'kafkaSaslPassword');
  if (mechanism === undefined && username === undefined && password === undefined) return undefined;
  if (mechanism === undefined)
    problems.push('KAFKA_SASL_MECHANISM is required if KAFKA_SASL_USERNAME or KAFKA_SASL_PASSWORD is set');
  if (username === undefined) problems.push('KAFKA_SASL_USERNAME is required for SASL');
  if (password === undefined) problems.push('KAFKA_SASL_PASSWORD is required for SASL');
  if (mechanism === undefined || username === undefined || password === undefined) return undefined;
  // Use getters, because kafkajs reads the credentials again for each new connection.
  const credentials = {
    mechanism,
    get username() {
      return username();
    },
    get password() {
      return password();
    },
  };
  return credentials as NonNullable<KafkaConnection['sasl']>;
}

export interface KafkaLogOptions extends Partial<AppendSettings> {
  /** The bootstrap brokers in the form `host:port`. */
  brokers: string[];
  clientId: string;
  logger: Logger;
  metrics?: Metrics;
  ssl?: KafkaConfig['ssl'];
  sasl?: KafkaConfig['sasl'];
  /** The number of replicas per partition in topics that `ensureTopics` creates. -1 uses the broker's default. */
  replicationFactor?: number;
  /** Additional settings for topics that `ensureTopics` creates, for example `{ 'retention.ms': '604800000' }`. */
  topicConfig?: Record<string, string>;
  /** A member loses its partitions after this many milliseconds without a heartbeat. */
  sessionTimeoutMs?: number;
  /** The heartbeat interval in milliseconds, which also determines how quickly a member notices a rebalance. */
  heartbeatIntervalMs?: number;
  /** How many milliseconds a fetch waits if there are no new records. */
  fetchWaitMs?: number;
  /** Creates connections to the brokers' advertised addresses, for example through a proxy. */
  socketFactory?: ISocketFactory;
}
