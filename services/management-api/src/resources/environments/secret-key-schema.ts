import { type TObject, type TSchema, Type } from 'typebox';

const secretFields = {
  secret_api_token: Type.Union([Type.String(), Type.Null()], {
    description: 'The secret key, in the answer that makes it and nowhere else; later its mask, like `phs_...1234`.',
  }),
  secret_api_token_backup: Type.Union([Type.String(), Type.Null()], {
    description: 'Mask of the former secret key, which is still valid; null when there is none.',
  }),
};

/** A project or an environment beside its secret keys. */
export const withSecretKeys = (record: TObject, title: string) =>
  Type.Object<Record<string, TSchema>>({ ...record.properties, ...secretFields }, { title });

export type SecretFields = Record<keyof typeof secretFields, string | null>;
