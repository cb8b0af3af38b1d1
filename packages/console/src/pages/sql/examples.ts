import { text } from './words.ts';

/** Sample queries that users can edit. They are not translated. */
export const examples: readonly { title: string; query: string }[] = [
  {
    title: text.examples.topEvents,
    query: `SELECT event, count() AS events, uniq(person_id) AS persons
FROM events
WHERE timestamp >= now() - INTERVAL 7 DAY
GROUP BY event
ORDER BY events DESC
LIMIT 20`,
  },
  {
    title: text.examples.dailyActives,
    query: `SELECT toDate(timestamp) AS day, uniq(person_id) AS persons
FROM events
WHERE timestamp >= now() - INTERVAL 30 DAY
GROUP BY day
ORDER BY day`,
  },
  {
    title: text.examples.topPages,
    query: `SELECT properties.$pathname AS page, count() AS views, uniq(person_id) AS visitors
FROM events
WHERE event = '$pageview' AND {filters}
GROUP BY page
ORDER BY views DESC
LIMIT 50`,
  },
  {
    title: text.examples.country,
    query: `SELECT distinct_id, person.properties.email AS email, max(timestamp) AS last_seen
FROM events
WHERE properties.$geoip_country_code = 'DE' AND timestamp >= now() - INTERVAL 30 DAY
GROUP BY distinct_id, email
ORDER BY last_seen DESC
LIMIT 100`,
  },
  {
    title: text.examples.persons,
    query: `SELECT toStartOfWeek(created_at) AS week, count() AS persons, countIf(is_identified) AS identified
FROM persons
GROUP BY week
ORDER BY week`,
  },
];
