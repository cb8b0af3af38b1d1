// SQL templates of string functions. The functions count characters, except `length`, which counts bytes. The collation
// pg_c_utf8 sorts strings by code points, and supports upper and lower case beyond ASCII. No other collation is used
// here, because PostgreSQL rejects expressions with two collations.

import { define, type Row, t } from './define.ts';

// Negative positions count from the end. Position 0 returns an empty string.
const from = t`CASE WHEN {2} > 0 THEN substr({1}, {2}::int) WHEN {2} < 0 THEN right({1}, (- {2})::int)
  WHEN {1} IS NOT NULL AND {2} IS NOT NULL THEN '' END`;
const fromTo = t`CASE WHEN {3} IS NULL THEN NULL WHEN {2} > 0 THEN substr({1}, {2}::int, greatest({3}, 0)::int)
  WHEN {2} < 0 THEN left(right({1}, (- {2})::int), greatest({3}, 0)::int)
  WHEN {1} IS NOT NULL AND {2} IS NOT NULL THEN '' END`;
const fromToOfClickHouse = t`substringUTF8({1}, if({2} = 0, 1, {2}), if({2} = 0 OR {3} < 0, {3} * 0, {3}))`;
const split = t`CASE WHEN coalesce({2}, '') = '' THEN ARRAY['']::text[] ELSE string_to_array({2}, {1}) END`;

const rows: Row[] = [
  ['lower(text) text', t`lower({1} COLLATE "pg_c_utf8")`, t`lowerUTF8({1})`],
  ['lowerUTF8(text) text', t`lower({1} COLLATE "pg_c_utf8")`, t`lowerUTF8({1})`],
  ['upper(text) text', t`upper({1} COLLATE "pg_c_utf8")`, t`upperUTF8({1})`],
  ['upperUTF8(text) text', t`upper({1} COLLATE "pg_c_utf8")`, t`upperUTF8({1})`],
  ['length(text) count', t`octet_length({1})::int8`, t`toInt64(length({1}))`],
  ['lengthUTF8(text) count', t`char_length({1})::int8`, t`toInt64(lengthUTF8({1}))`],
  ['trim(text) text', t`btrim({1}, ' ')`, t`trimBoth({1})`],
  ['trimBoth(text) text', t`btrim({1}, ' ')`, t`trimBoth({1})`],
  ['trimLeft(text) text', t`ltrim({1}, ' ')`, t`trimLeft({1})`],
  ['trimRight(text) text', t`rtrim({1}, ' ')`, t`trimRight({1})`],
  ['substring(text, int) text', from, t`substringUTF8({1}, if({2} = 0, 1, {2}), if({2} = 0, 0, 2147483647))`],
  ['substring(text, int, int) text', fromTo, fromToOfClickHouse],
  ['substringUTF8(text, int, int) text', fromTo, fromToOfClickHouse],
  ['left(text, int) text', t`left({1}, {2}::int)`, t`leftUTF8({1}, {2})`],
  ['right(text, int) text', t`right({1}, {2}::int)`, t`rightUTF8({1}, {2})`],
  ['reverse(text) text', t`reverse({1})`, t`reverseUTF8({1})`],
  ['position(text, text) count', t`strpos({1}, {2})::int8`, t`toInt64(positionUTF8({1}, {2}))`],
  ['startsWith(text, text) flag', t`starts_with({1}, {2})`, t`startsWith({1}, {2})`],
  ['endsWith(text, text) flag', t`(right({1}, char_length({2})) = {2})`, t`endsWith({1}, {2})`],
  ['empty(text) flag', t`({1} = '')`, t`empty({1})`],
  ['notEmpty(text) flag', t`({1} <> '')`, t`notEmpty({1})`],
  [
    'replaceOne(text, text, text) text',
    t`CASE WHEN {3} IS NULL THEN NULL WHEN strpos({1}, {2}) = 0 OR {2} = '' THEN {1}
        ELSE overlay({1} PLACING {3} FROM strpos({1}, {2}) FOR char_length({2})) END`,
    t`replaceOne({1}, {2}, {3})`,
  ],
  ['replaceAll(text, text, text) text', t`replace({1}, {2}, {3})`, t`replaceAll({1}, {2}, {3})`],
  ['replace(text, text, text) text', t`replace({1}, {2}, {3})`, t`replaceAll({1}, {2}, {3})`],
  ['concat(comparable...) text!', t`concat({*:text})`, t`concat({*:text})`],
  // An empty string becomes a list with one empty string, as in ClickHouse.
  ['splitByChar(character, text) text[]', split, t`splitByString({1}, ifNull({2}, ''))`],
  ['splitByString(separator, text) text[]', split, t`splitByString({1}, ifNull({2}, ''))`],
  ['like(text, like) flag', t`({1} LIKE {2})`],
  [
    'ilike(text, like) flag',
    t`(lower({1} COLLATE "pg_c_utf8") LIKE lower({2} COLLATE "pg_c_utf8"))`,
    t`(lowerUTF8({1}) LIKE lowerUTF8({2}))`,
  ],
  // The resolver appends the pattern in ClickHouse's form as the last argument.
  ['match(text, pattern) flag', t`({1} ~ {2})`, t`match({1}, {3})`],
  [
    'extract(text, pattern) text',
    t`CASE WHEN {1} IS NOT NULL THEN coalesce((regexp_match({1}, {2}))[1], '') END`,
    t`extract({1}, {3})`,
  ],
  [
    'extractAll(text, pattern) text[]',
    t`ARRAY(SELECT coalesce(found[1], '') FROM regexp_matches({1}, {2}, 'g') WITH ORDINALITY AS all_found (found, place) ORDER BY place)`,
    t`extractAll({1}, {3})`,
  ],
  [
    'replaceRegexpOne(text, pattern, replacement) text',
    t`regexp_replace({1}, {2}, {3})`,
    t`replaceRegexpOne({1}, {4}, {5})`,
  ],
  [
    'replaceRegexpAll(text, pattern, replacement) text',
    t`regexp_replace({1}, {2}, {3}, 'g')`,
    t`replaceRegexpAll({1}, {4}, {5})`,
  ],
  [
    'domain(text) text',
    t`CASE WHEN {1} IS NOT NULL THEN coalesce(substring({1} FROM '^(?:[a-zA-Z][a-zA-Z0-9+.-]*:)?//(?:[^/?#@]*@)?([^/?#:]*)'), '') END`,
    t`extract({1}, '^(?:[a-zA-Z][a-zA-Z0-9+.-]*:)?//(?:[^/?#@]*@)?([^/?#:]*)')`,
  ],
  [
    'domainWithoutWWW(text) text',
    t`CASE WHEN {1} IS NOT NULL THEN coalesce(substring({1} FROM '^(?:[a-zA-Z][a-zA-Z0-9+.-]*:)?//(?:[^/?#@]*@)?(?:www\\.)?([^/?#:]*)'), '') END`,
    t`extract({1}, '^(?:[a-zA-Z][a-zA-Z0-9+.-]*:)?//(?:[^/?#@]*@)?(?:www\\.)?([^/?#:]*)')`,
  ],
  [
    'path(text) text',
    t`CASE WHEN {1} IS NOT NULL THEN coalesce(substring({1} FROM '^(?:[a-zA-Z][a-zA-Z0-9+.-]*:)?//[^/?#]*([^?#]*)'), '') END`,
    t`extract({1}, '^(?:[a-zA-Z][a-zA-Z0-9+.-]*:)?//[^/?#]*([^?#]*)')`,
  ],
  [
    'protocol(text) text',
    t`CASE WHEN {1} IS NOT NULL THEN coalesce(substring({1} FROM '^([a-zA-Z][a-zA-Z0-9+.-]*)://'), '') END`,
    t`extract({1}, '^([a-zA-Z][a-zA-Z0-9+.-]*)://')`,
  ],
  [
    'queryString(text) text',
    t`CASE WHEN {1} IS NOT NULL THEN coalesce(substring({1} FROM '\\?([^#]*)'), '') END`,
    t`extract({1}, '\\?([^#]*)')`,
  ],
  [
    'cutQueryStringAndFragment(text) text',
    t`regexp_replace({1}, '[?#].*$', '')`,
    t`replaceRegexpOne({1}, '(?s)[?#].*$', '')`,
  ],
  ['cutQueryString(text) text', t`regexp_replace({1}, '\\?[^#]*', '')`, t`replaceRegexpOne({1}, '\\?[^#]*', '')`],
  [
    'extractURLParameter(text, separator) text',
    t`CASE WHEN {1} IS NOT NULL THEN coalesce((SELECT substr(pair, char_length({2}) + 2)
        FROM regexp_split_to_table(substring({1} FROM '\\?([^#]*)'), '&') WITH ORDINALITY AS pairs (pair, place)
       WHERE starts_with(pair, {2} || '=') ORDER BY place LIMIT 1), '') END`,
    t`extractURLParameter({1}, {2})`,
  ],
];

const others: Row[] = [
  [
    'splitByRegexp(text, pattern) text[]',
    t`CASE WHEN coalesce({1}, '') = '' THEN ARRAY['']::text[] ELSE regexp_split_to_array({1}, {2}) END`,
    t`if(ifNull({1}, '') = '', [''], splitByRegexp({3}, ifNull({1}, '')))`,
  ],
  // A string whose decoded bytes are not UTF-8 is returned unchanged, because PostgreSQL cannot store the decoded
  // string.
  [
    'decodeURLComponent(text) text',
    t`(SELECT CASE WHEN encode(bytes, 'hex') ~ '^(0[1-9a-f]|[1-7].|(c[2-9a-f]|d.)[89ab].|e0[ab].[89ab].|e[1-9a-cef][89ab].[89ab].|ed[89].[89ab].|f0[9ab].[89ab].[89ab].|f[1-3][89ab].[89ab].[89ab].|f48.[89ab].[89ab].)*$'
        THEN convert_from(bytes, 'UTF8') ELSE {1} END
        FROM (SELECT string_agg(CASE WHEN token[1] ~ '^%[0-9A-Fa-f][0-9A-Fa-f]$' THEN decode(substr(token[1], 2), 'hex') ELSE convert_to(token[1], 'UTF8') END, ''::bytea ORDER BY place) AS bytes
                FROM regexp_matches({1}, '%[0-9A-Fa-f][0-9A-Fa-f]|[^%]+|%|^$', 'g') WITH ORDINALITY AS tokens (token, place)) AS decoded)`,
    t`if(isValidUTF8(decodeURLComponent({1})) AND position(decodeURLComponent({1}), char(0)) = 0, decodeURLComponent({1}), {1})`,
  ],
  [
    'encodeURLComponent(text) text',
    t`(SELECT string_agg(CASE WHEN token ~ '^[A-Za-z0-9_.~-]?$' THEN token ELSE regexp_replace(upper(encode(convert_to(token, 'UTF8'), 'hex')), '(..)', '%\\1', 'g') END, '' ORDER BY place)
        FROM regexp_split_to_table({1}, '') WITH ORDINALITY AS tokens (token, place))`,
    t`encodeURLComponent({1})`,
  ],
  ['repeat(separator, small) text', t`repeat({1}, {2}::int)`, t`repeat({1}, {2})`],
  ['leftPad(text, small) text', t`lpad({1}, {2}::int)`, t`leftPadUTF8({1}, {2})`],
  ['leftPad(text, small, separator) text', t`lpad({1}, {2}::int, {3})`, t`leftPadUTF8({1}, {2}, {3})`],
  ['rightPad(text, small) text', t`rpad({1}, {2}::int)`, t`rightPadUTF8({1}, {2})`],
  ['rightPad(text, small, separator) text', t`rpad({1}, {2}::int, {3})`, t`rightPadUTF8({1}, {2}, {3})`],
  [
    'countSubstrings(text, separator) count',
    t`((char_length({1}) - char_length(replace({1}, {2}, ''))) / char_length({2}))::int8`,
    t`toInt64(countSubstrings({1}, {2}))`,
  ],
  [
    'multiSearchAny(text, text[]) flag!',
    t`EXISTS (SELECT FROM unnest({2}) AS words (word) WHERE strpos({1}, word) > 0)`,
    t`arrayExists(word -> ifNull(positionUTF8({1}, word), 0) > 0, {2})`,
  ],
  // The resolver adds an argument that contains the language names as JSON.
  [
    'languageName(text, text) text',
    t`CASE WHEN {1} IS NOT NULL THEN coalesce({2}::jsonb ->> {1}, 'Unknown') END`,
    t`if({1} IS NULL, NULL, if(JSONHas({2}, ifNull({1}, '')), JSONExtractString({2}, ifNull({1}, '')), 'Unknown'))`,
  ],
  ['initcap(text) text', t`initcap({1} COLLATE "pg_c_utf8")`, t`initcapUTF8({1})`],
  // The result is the first byte, as in ClickHouse.
  [
    'ascii(text) seconds',
    t`CASE WHEN {1} <> '' THEN get_byte(convert_to(left({1}, 1), 'UTF8'), 0) WHEN {1} = '' THEN 0 END::int8`,
    t`toInt64(ascii({1}))`,
  ],
  ['hex(text) text', t`upper(encode(convert_to({1}, 'UTF8'), 'hex'))`, t`hex({1})`],
  [
    'base64Encode(text) text',
    t`translate(encode(convert_to({1}, 'UTF8'), 'base64'), chr(10), '')`,
    t`base64Encode({1})`,
  ],
  [
    'topLevelDomain(text) text',
    t`CASE WHEN {1} IS NOT NULL THEN coalesce(substring({1} FROM '^(?:[a-zA-Z][a-zA-Z0-9+.-]*:)?//(?:[^/?#@]*@)?[^/?#:]*\\.([^/?#:.0-9][^/?#:.]*)'), '') END`,
    t`extract({1}, '^(?:[a-zA-Z][a-zA-Z0-9+.-]*:)?//(?:[^/?#@]*@)?[^/?#:]*\\.([^/?#:.0-9][^/?#:.]*)')`,
  ],
  // Returns the numbers of a version such as 1.10.2 as a list. These lists sort in the order of versions.
  [
    'sortableSemVer(text) longs',
    t`coalesce(string_to_array(substring({1} FROM '(\\d{1,18}(?:\\.\\d{1,18})+)'), '.')::int8[], '{}')`,
    t`arrayMap(part -> toInt64(part), arrayFilter(part -> part != '', splitByChar('.', extract(ifNull({1}, ''), '(\\d{1,18}(?:\\.\\d{1,18})+)'))))`,
  ],
];

export const textFunctions = define([...rows, ...others]);
