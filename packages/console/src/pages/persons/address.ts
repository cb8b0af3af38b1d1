import { part, useAddress } from '../../parts/address.ts';

const parts = {
  search: part.text(),
  /** Uuid of the open person, or one of their ids. */
  person: part.text(),
  tab: part.oneOf(['properties', 'ids', 'events', 'flags'], 'properties'),
};
export const usePersonsAddress = () => useAddress(parts);
export type PersonsAddress = ReturnType<typeof usePersonsAddress>;
