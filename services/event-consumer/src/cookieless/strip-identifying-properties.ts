import { type CapturedEvent, isObject, type JsonObject } from '@millrace/contracts';
import { withoutKeys } from '../values/json-object.ts';

/** What the id of a visitor is made of. Stored beside the id, it would reveal whose id it is. */
const traces = new Set(['$ip', '$raw_user_agent', '$cookieless_extra']);
/** As browsers write it to the person. */
const personTraces = new Set([...traces, '$initial_ip', '$initial_raw_user_agent']);

/** The event without them, wherever clients write them. */
export function stripIdentifyingProperties(event: CapturedEvent): CapturedEvent {
  const bare: CapturedEvent = { ...event, ip: null, properties: withoutKeys(event.properties, traces) };
  for (const name of ['$set', '$set_once'] as const) {
    const nested = bare.properties[name];
    if (isObject(nested)) bare.properties[name] = withoutKeys(nested, personTraces);
    const beside: JsonObject | undefined = event[name];
    if (beside !== undefined) bare[name] = withoutKeys(beside, personTraces);
  }
  return bare;
}
