import type { Core, Feature } from '../client/core.ts';
import type { JsonValue, Properties } from '../client/values.ts';
import { page } from '../page/globals.ts';
import { memoizeLast } from '../values/memoize-last.ts';
import { campaignOf, maskAddress, searchOf } from './campaign.ts';
import { originNow, propertiesOf, referrer } from './origin.ts';

/** Where a visitor, a session and a tab came from: remembered at the first event, told with every one. */
export const createOrigin: Feature = (core) => {
  const { options, store, signals } = core;
  const remember = createMemory(core);
  let isTold = false;
  // To read it out of addresses takes longer than all the rest of an event.
  const entryOf = memoizeLast((props: JsonValue) => said(propertiesOf(props, '$session_entry_')));

  core.addGate(() => {
    remember();
    return true;
  });
  core.addProperties(() => {
    const sessionId = core.sessionId();
    const known = Object(store.get('$client_session_props')) as { sessionId?: string; props?: Properties };
    const props = known.sessionId === sessionId ? known.props : { ...originNow(options) };
    if (known.sessionId !== sessionId) store.set({ $client_session_props: { sessionId, props } });
    return entryOf(props);
  });
  core.addPageProperties(() =>
    options.mask_personal_data_properties ? { $current_url: maskAddress(page?.location.href ?? '', true) } : {},
  );
  core.initialPersonProperties = () => propertiesOf(store.get('$initial_person_info'), '$initial_');

  // A person that has nothing of it yet gets it: once per page, and with every `$identify`.
  signals.on('capturing', (event) => {
    const isIdentify = event.event === '$identify';
    if (!event.properties.$process_person_profile || (isTold && !isIdentify)) return;
    if (event.event !== '$groupidentify') isTold = true;
    const { props } = Object(store.get('$client_session_props')) as { props?: Properties };
    event.$set_once = { ...core.initialPersonProperties(), ...propertiesOf(props, ''), ...event.$set_once };
  });
  return undefined;
};

/** The first answer of a tab, and of a visitor, stays; another campaign replaces the last. */
function createMemory({ options, store, tabStore }: Core): () => void {
  let readAddress = '';
  return () => {
    const { save_campaign_params: areCampaigns, save_referrer: isReferrer } = options;
    const address = page?.location.href ?? '';
    const isElsewhere = address !== readAddress;
    readAddress = address;
    if (isElsewhere) tabStore.set(searchOf(page?.document.referrer ?? ''));
    if (areCampaigns && isElsewhere) {
      const masked = maskAddress(address, options.mask_personal_data_properties);
      const campaign = campaignOf(masked, options.custom_campaign_params);
      if (Object.values(campaign).some(Boolean)) tabStore.set(campaign);
    }
    if (isReferrer && !tabStore.get('$referrer')) tabStore.set(referrer());
    if ((areCampaigns || isReferrer) && !store.get('$initial_person_info'))
      store.set({ $initial_person_info: { ...originNow(options) } });
  };
}

function said(properties: Properties): Properties {
  return Object.fromEntries(Object.entries(properties).filter(([, value]) => value));
}
