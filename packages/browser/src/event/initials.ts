import type { Properties } from '../client/values.ts';
import { page } from '../page/globals.ts';
import { campaignOf, maskAddress, searchOf } from './campaign.ts';
import type { EventParts } from './event-parts.ts';
import { originNow, propertiesOf, referrer } from './origin.ts';

export interface Initials {
  /** Where the visitor, and this tab, came from; the first answer stays. */
  remember(): void;
  /** What an event adds to a person that has nothing of it yet: once per page, and with every `$identify`. */
  setOnce(event: string, own?: Properties): Properties | undefined;
}

export function createInitials({ options, store, tabStore, session, person }: EventParts): Initials {
  let isSent = false;
  let readAddress = '';

  session.onChange((sessionId) => {
    const { sessionId: known } = Object(store.get('$client_session_props')) as { sessionId?: string };
    if (known !== sessionId) store.set({ $client_session_props: { sessionId, props: { ...originNow(options) } } });
  });

  return {
    remember() {
      const { save_campaign_params: areCampaigns, save_referrer: isReferrer } = options;
      tabStore.set(searchOf(page?.document.referrer ?? ''));
      const address = page?.location.href ?? '';
      if (areCampaigns && address !== readAddress) {
        readAddress = address;
        const masked = maskAddress(address, options.mask_personal_data_properties);
        const campaign = campaignOf(masked, options.custom_campaign_params);
        if (Object.values(campaign).some(Boolean)) tabStore.set(campaign);
      }
      if (isReferrer && tabStore.get('$referrer') === undefined) tabStore.set(referrer());
      if ((areCampaigns || isReferrer) && !store.get('$initial_person_info'))
        store.set({ $initial_person_info: { ...originNow(options) } });
    },
    setOnce(event, own) {
      if (!person.hasProfile() || (isSent && event !== '$identify')) return own;
      if (event !== '$groupidentify') isSent = true;
      const { props } = Object(store.get('$client_session_props')) as { props?: Properties };
      const all = {
        ...propertiesOf(store.get('$initial_person_info'), '$initial_'),
        ...propertiesOf(props, ''),
        ...own,
      };
      return Object.keys(all).length > 0 ? all : undefined;
    },
  };
}
