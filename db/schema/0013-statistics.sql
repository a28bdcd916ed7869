-- SPDX-License-Identifier: GPL-2.0-or-later
-- The planner's statistics of what grew. A young database doubles within the minute that autovacuum sleeps by default, and joins
-- over its runs and series are planned as if there were still two: seconds instead of milliseconds. Only an owner may analyse.

create function refresh_statistics() returns integer
language plpgsql security definer set search_path = public set lock_timeout = '1s' as $$
declare
	grown regclass;
	n integer := 0;
begin
	for grown in select relid from pg_stat_user_tables
		where schemaname = 'public' and n_mod_since_analyze > 50 + 0.2 * n_live_tup loop
		execute format('analyze %s', grown);
		n := n + 1;
	end loop;
	return n;
end $$;
revoke execute on function refresh_statistics from public;
grant execute on function refresh_statistics to mmperf_bisector;
