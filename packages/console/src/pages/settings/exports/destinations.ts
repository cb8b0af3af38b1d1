// The settings of each batch export destination, from which the form is generated.

export const destinationTypes = ['S3', 'Postgres'] as const;
export type DestinationType = (typeof destinationTypes)[number];

/** A field in the destination form. The kind `lines` is a list of names with one name per line. */
export interface DestinationSetting {
  name: string;
  kind: 'text' | 'secret' | 'number' | 'check' | 'lines' | readonly string[];
  isRequired?: true;
  /** Whether the field is rarely needed and therefore in the form's collapsed section. */
  isRare?: true;
}

const ofEvents = [
  { name: 'include_events', kind: 'lines', isRare: true },
  { name: 'exclude_events', kind: 'lines', isRare: true },
] as const;

/** `file_format` is missing, because it has only one valid value. */
export const destinationSettings: Record<DestinationType, readonly DestinationSetting[]> = {
  S3: [
    { name: 'bucket_name', kind: 'text', isRequired: true },
    { name: 'region', kind: 'text', isRequired: true },
    { name: 'aws_access_key_id', kind: 'secret', isRequired: true },
    { name: 'aws_secret_access_key', kind: 'secret', isRequired: true },
    { name: 'prefix', kind: 'text' },
    { name: 'compression', kind: ['gzip'] },
    { name: 'endpoint_url', kind: 'text', isRare: true },
    { name: 'encryption', kind: ['AES256', 'aws:kms'], isRare: true },
    { name: 'kms_key_id', kind: 'text', isRare: true },
    ...ofEvents,
  ],
  Postgres: [
    { name: 'host', kind: 'text', isRequired: true },
    { name: 'port', kind: 'number' },
    { name: 'user', kind: 'secret', isRequired: true },
    { name: 'password', kind: 'secret', isRequired: true },
    { name: 'database', kind: 'text', isRequired: true },
    { name: 'table_name', kind: 'text' },
    { name: 'schema', kind: 'text', isRare: true },
    { name: 'has_self_signed_cert', kind: 'check', isRare: true },
    ...ofEvents,
  ],
};
