import type { Database, Transaction } from '@millrace/db';
import type { Static, TObject, TSchema } from 'typebox';
import type { AddressedProject } from '../../access/addressed-store.ts';
import type { KeyChanges } from '../../access/announce-key-change.ts';
import type { Caller } from '../../access/caller.ts';
import type { EnvironmentRow } from './environment-store.ts';
import type { Signing } from './to-environment.ts';

export interface ItemDeps extends Pick<Database, 'sql' | 'transaction'> {
  announceKeyChange: KeyChanges['announce'];
  /** What signs `live_events_token` at the moment. */
  tokenSecret: () => string;
}

/** One of the paths under which one project or environment is addressed, and what is particular to it. */
export interface ItemFamily<P extends TObject> {
  kind: 'project' | 'environment';
  /** Ends in `/:id`. */
  path: string;
  /** Prefix of operation ids. */
  prefix: string;
  params: P;
  target: (context: { caller: Caller; params: Static<P> }) => Promise<AddressedProject>;
  schema: TSchema;
  /** Of the answers that show secret keys. */
  schemaWithSecretKeys: TSchema;
  example: Record<string, unknown>;
  changes: TObject<Record<string, TSchema>>;
  show: (row: EnvironmentRow, signing: Signing) => Record<string, unknown>;
  /** Makes the change. @returns the key whose settings changed. */
  change: (
    tx: Transaction,
    context: { caller: Caller; target: AddressedProject; sent: Record<string, unknown> },
  ) => Promise<string>;
  /** Removes the record. @returns the keys that stop working. */
  remove: (context: { caller: Caller; target: AddressedProject }) => Promise<string[]>;
  /** Scopes of the activity records that are about it. */
  activityScopes: string[];
  /** The contract has the activity of environments as an action without a body. */
  isActivityOnlyIfPreferred: boolean;
}
