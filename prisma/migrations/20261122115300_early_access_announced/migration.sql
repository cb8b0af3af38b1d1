-- Gateways remember which features persons may enrol in, as they remember flags.
CREATE FUNCTION "announce_early_access_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM "notify_flags_change"(CASE WHEN TG_OP = 'DELETE' THEN OLD."project_id" ELSE NEW."project_id" END);
    RETURN NULL;
END
$$;

CREATE TRIGGER "early_access_feature_changed" AFTER INSERT OR UPDATE OR DELETE ON "early_access_feature"
    FOR EACH ROW EXECUTE FUNCTION "announce_early_access_change"();
