/** The type of a field in a destination's configuration. */
export type DestinationValueType = 'string' | 'integer' | 'boolean' | 'strings';

export interface DestinationField {
  type: DestinationValueType;
  isRequired?: true;
  /** Whether the field must never be returned or logged. Secret fields are stored separately. */
  isSecret?: true;
  choices?: readonly string[];
}

const eventFilters = {
  exclude_events: { type: 'strings' },
  include_events: { type: 'strings' },
} as const satisfies Record<string, DestinationField>;

/**
 * The destinations of batch exports and their configuration fields (docs/api/batch-exports.md). The delivery worker
 * supports all of them.
 */
export const exportDestinations = {
  S3: {
    bucket_name: { type: 'string', isRequired: true },
    region: { type: 'string', isRequired: true },
    prefix: { type: 'string', isRequired: true },
    // Required, because an export without its own keys would write with the installation's credentials.
    aws_access_key_id: { type: 'string', isRequired: true, isSecret: true },
    aws_secret_access_key: { type: 'string', isRequired: true, isSecret: true },
    compression: { type: 'string', choices: ['gzip'] },
    encryption: { type: 'string', choices: ['AES256', 'aws:kms'] },
    kms_key_id: { type: 'string' },
    endpoint_url: { type: 'string' },
    file_format: { type: 'string', choices: ['JSONLines'] },
    ...eventFilters,
  },
  Postgres: {
    user: { type: 'string', isRequired: true, isSecret: true },
    password: { type: 'string', isRequired: true, isSecret: true },
    host: { type: 'string', isRequired: true },
    port: { type: 'integer' },
    database: { type: 'string', isRequired: true },
    schema: { type: 'string' },
    table_name: { type: 'string' },
    has_self_signed_cert: { type: 'boolean' },
    ...eventFilters,
  },
} as const satisfies Record<string, Record<string, DestinationField>>;

export type ExportDestinationType = keyof typeof exportDestinations;

export function isExportDestinationType(text: string): text is ExportDestinationType {
  return Object.hasOwn(exportDestinations, text);
}

/** What an export contains: the events stored within the interval, or every person's current state. */
export const exportModels = ['events', 'persons'] as const;
export type ExportModel = (typeof exportModels)[number];
