import type { Client } from '@millrace/browser';

/** The client, by the name applications import it by. */
export type PostHog = Client;
