// Creates the components of a client when the application calls `init`.

import type { Client, Options } from '../client/client.ts';
import type { Core, Emitter, Log, Signals } from '../client/core.ts';
import { createConsent } from '../consent.ts';
import { createCapture } from '../event/capture.ts';
import { createPersonProfile, type EventParts } from '../event/event-parts.ts';
import { initializeVisitor, observeOtherTabs } from '../identity.ts';
import { attempt, page } from '../page/globals.ts';
import { createEventSender } from '../sending/sender.ts';
import { createSession } from '../session.ts';
import { openStores } from '../storage/store.ts';

export interface Started {
  core: Core;
  parts: EventParts;
  /** The distinct ID to pass to `identify` if the visitor is anonymous. */
  identified: string | null | undefined;
}

/** Creates the components in the order of their dependencies: options, stores, consent, session, sender, events. */
export function createCore(client: Client, options: Options, log: Log): Started {
  const signals = createEmitter(log);
  const consent = createConsent(options, signals);
  const isPersistent = () => !(options.opt_out_persistence_by_default && consent.isOptedOut());
  const { store, tabStore } = openStores(options, isPersistent);
  signals.on('consent', () => [store, tabStore].forEach((one) => void one.followConsent()));
  const identified = initializeVisitor(options, store, log);
  observeOtherTabs(store, signals);
  const url: Core['url'] = (path, of = 'api') => {
    const host = { api: null, flags: options.flags_api_host, assets: options.asset_host }[of] ?? options.api_host;
    // Resolve a relative host such as `/ingest` against the page URL, ignoring any `<base>` element.
    return (/^\w+:/.test(host) ? host : (attempt(() => new URL(host, location.href).href) ?? host)) + path;
  };
  const { token } = options;
  const sender = createEventSender({ token, options, store, signals, log, url });
  const session = createSession(options, store, signals);
  const person = createPersonProfile(options, store, log);
  const parts: EventParts = { options, consent, store, tabStore, session, person, sender, signals, log };
  const events = createCapture(parts);
  // Browsers emit `pagehide` even where they do not emit `unload`: on phones, and for pages in the back/forward cache.
  page?.addEventListener('pagehide', () => {
    events.settle();
    signals.emit('leaving', undefined);
  });
  // Listen in the capture phase, so that deferred captures complete before the sender's listener on the document runs.
  page?.addEventListener('visibilitychange', events.settle, true);
  const core: Core = {
    token,
    client,
    options,
    store,
    tabStore,
    sender,
    signals,
    log,
    url,
    ...events,
    initialPersonProperties: () => ({}),
    sessionId: () => session.current().sessionId,
    distinctId: () => store.get('distinct_id') as string,
    isCapturing: () => !consent.isOptedOut(),
  };
  return { core, parts, identified };
}

type Listeners = { [Name in keyof Signals]?: Set<(detail: Signals[Name]) => void> };

/** Creates an emitter. If a listener throws, this does not affect other listeners or the caller of `emit`. */
function createEmitter(log: Log): Emitter {
  const listeners: Listeners = {};
  return {
    on(name, listener) {
      const all: Set<typeof listener> = listeners[name] ?? new Set();
      Object.assign(listeners, { [name]: all });
      all.add(listener);
      return () => void all.delete(listener);
    },
    emit(name, detail) {
      for (const listener of listeners[name] ?? []) {
        try {
          listener(detail);
        } catch (error) {
          log.error(error);
        }
      }
    },
  };
}
