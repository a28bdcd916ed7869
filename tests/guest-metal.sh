# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced behind test_begin by tests of a guest that is set up as a machine (deploy/metal-machine) in $dir/m1, which is
# switched off at the end.
#
#	metal VERB [ARGUMENTS]     deploy/metal-machine's
#	on_machine COMMAND...      by ssh

metal() {
	_verb=$1
	shift
	sh "$root/deploy/metal-machine" "$_verb" "$dir/m1" "$@"
}

on_machine() {
	timeout 120 sh "$root/deploy/metal-machine" ssh "$dir/m1" "$@"
}

trap '_was=$?; metal off; (exit $_was); _finish' EXIT
