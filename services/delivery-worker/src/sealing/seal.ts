// Encrypts stored secrets with the newest key, so that operators can rotate keys.

import { clientSecretEncryptionContext, totpEncryptionContext } from '@millrace/accounts';
import { flagPayloadEncryptionContext, isSealedPayload } from '@millrace/contracts';
import type { Database, Transaction } from '@millrace/db';
import { type Logger, type SecretBox, SecretBoxError } from '@millrace/runtime';
import {
  type EncryptedFlag,
  findFlagsToEncrypt,
  lockClientSecretsToEncrypt,
  lockExportsToEncrypt,
  lockPayloads,
  lockTotpSecretsToEncrypt,
  storeClientSecret,
  storePayloads,
  storeSecrets,
  storeTotpSecret,
} from './store.ts';

const portion = 100;

/**
 * Encrypts export secrets that are unencrypted or encrypted with an older key. To rotate keys, operators add a new key
 * before the old one. When all secrets have been re-encrypted, they can remove the old key.
 * @returns whether more secrets may remain
 */
export function encryptExportSecrets(deps: SealingDeps): Promise<boolean> {
  const { secretBox } = deps;
  return sealPortion(deps, {
    what: 'batch export secrets',
    lock: lockExportsToEncrypt,
    seal: (tx, { id, secrets }) => storeSecrets(tx, id, { ...secretBox.seal(secretBox.open(secrets, id), id) }),
  });
}

/** Like `encryptExportSecrets`, for the authenticator app secrets that the management API stores. */
export function encryptTotpSecrets(deps: SealingDeps): Promise<boolean> {
  const { secretBox } = deps;
  return sealPortion(deps, {
    what: 'authenticator app secrets',
    lock: lockTotpSecretsToEncrypt,
    seal: (tx, { id, secret }) => {
      const context = totpEncryptionContext(id);
      const opened = isSealedPayload(secret) ? secretBox.open({ sealed: secret }, context) : { text: secret };
      return storeTotpSecret(tx, id, secretBox.seal(opened, context).sealed);
    },
  });
}

/** Like `encryptExportSecrets`, for the client secrets of organizations' OpenID providers. */
export function encryptClientSecrets(deps: SealingDeps): Promise<boolean> {
  const { secretBox } = deps;
  return sealPortion(deps, {
    what: 'OpenID provider client secrets',
    lock: lockClientSecretsToEncrypt,
    seal: (tx, { id, secret }) => {
      const context = clientSecretEncryptionContext(id);
      const opened = isSealedPayload(secret) ? secretBox.open({ sealed: secret }, context) : { text: secret };
      return storeClientSecret(tx, id, secretBox.seal(opened, context).sealed);
    },
  });
}

async function sealPortion<Row extends { id: string | number }>(
  { database, logger, secretBox }: SealingDeps,
  {
    what,
    lock,
    seal,
  }: {
    what: string;
    lock: (tx: Transaction, keys: { newestPrefix: string; keyIds: readonly string[]; limit: number }) => Promise<Row[]>;
    /**
     * Encrypts the secret of a row with the newest key.
     * @throws SecretBoxError if no configured key can decrypt the secret, which then stays unchanged
     */
    seal: (tx: Transaction, row: Row) => Promise<void>;
  },
): Promise<boolean> {
  const { newestPrefix, keyIds } = secretBox;
  if (newestPrefix === null) return false;
  const sealed = await database.transaction(async (tx) => {
    let count = 0;
    for (const row of await lock(tx, { newestPrefix, keyIds, limit: portion })) {
      try {
        await seal(tx, row);
        count += 1;
      } catch (error) {
        if (!(error instanceof SecretBoxError)) throw error;
        logger.debug(`could not decrypt ${what}`, { id: row.id });
      }
    }
    return count;
  });
  if (sealed > 0) logger.info(`encrypted ${what} with the newest key`, { count: sealed });
  return sealed === portion;
}

interface SealingDeps {
  database: Pick<Database, 'sql' | 'transaction'>;
  logger: Logger;
  secretBox: SecretBox;
}

/**
 * Encrypts flag payloads that are unencrypted or encrypted with an older key. Processes each flag in a separate
 * transaction.
 * @param signal a signal that is aborted when the worker stops. The remaining flags are processed the next time.
 * @returns false, because the task never has more work immediately
 */
export async function encryptFlagPayloads(deps: SealingDeps, signal: AbortSignal): Promise<boolean> {
  const { newestPrefix, keyIds } = deps.secretBox;
  if (newestPrefix === null) return false;
  let sealed = 0;
  // Iterate by ID: flags whose payloads cannot be decrypted are found again, so a loop until no flag is found would
  // never end.
  for (let after = 0; !signal.aborted; ) {
    const flags = await findFlagsToEncrypt(deps.database.sql, { newestPrefix, keyIds, after, limit: portion });
    for (const flag of flags) sealed += Number(await sealFlag(deps, flag));
    const last = flags.at(-1);
    if (last === undefined) break;
    after = last.id;
  }
  if (sealed > 0) deps.logger.info('encrypted feature flag payloads with the newest key', { count: sealed });
  return false;
}

/** Encrypts a flag's payloads with the newest key. @returns whether the payloads were encrypted */
async function sealFlag({ database, logger, secretBox }: SealingDeps, flag: EncryptedFlag): Promise<boolean> {
  return database.transaction(async (tx) => {
    const payloads = await lockPayloads(tx, flag);
    if (payloads === undefined) return false;
    try {
      const sealed = Object.entries(payloads).map(([key, payload]) => [key, resealed(secretBox, flag, payload)]);
      await storePayloads(tx, flag.id, Object.fromEntries(sealed));
      return true;
    } catch (error) {
      if (!(error instanceof SecretBoxError)) throw error;
      logger.debug('could not decrypt a feature flag payload', { featureFlagId: flag.id });
      return false;
    }
  });
}

function resealed(secretBox: SecretBox, { environmentId }: EncryptedFlag, payload: unknown): unknown {
  if (typeof payload !== 'string') return payload;
  const context = flagPayloadEncryptionContext(environmentId);
  const opened = isSealedPayload(payload) ? secretBox.open({ sealed: payload }, context) : { payload };
  return secretBox.seal(opened, context).sealed;
}
