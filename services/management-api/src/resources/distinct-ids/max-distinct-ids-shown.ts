/** How many distinct ids of one person a list shows at most, the main one in front. */
export const maxDistinctIdsShown = 100;
