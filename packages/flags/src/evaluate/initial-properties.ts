const fromSession =
  '$app_build $app_name $app_namespace $app_version $browser $browser_version $device_type $current_url $pathname $os ' +
  '$os_version $referring_domain $referrer $screen_height $screen_width $viewport_height $viewport_width ' +
  '$raw_user_agent utm_source utm_medium utm_campaign utm_content utm_term gclid gad_source gclsrc dclid gbraid wbraid ' +
  'fbclid msclkid twclid li_fat_id mc_cid igshid ttclid rdt_cid epik qclid sccid irclid _kx';

/** The current property that stands in for a person's first one (`$initial_browser`: `$browser`) while that is not known. */
const currentByInitial = new Map(
  fromSession.split(' ').map((current) => [`$initial_${current.replace(/^\$/, '')}`, current]),
);

export function currentOf(initial: string): string | undefined {
  return currentByInitial.get(initial);
}
