// SPDX-License-Identifier: GPL-2.0-or-later
/* Drivers of a machine against configurations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runner/needs.h"

#define HEAD "CONFIG_CC_VERSION_TEXT=\"gcc 12\"\n"

static void expect_lacks(const struct strs *drivers, const char *config, bool modules,
			 const char *wanted)
{
	AUTO_STR text = str_new();

	needs_lacks(drivers, config, modules, &text);
	assert_string_equal(text.s, wanted);
}

static void test_lacks(void **state _unused)
{
	struct needs needs;

	needs_parse("motd\nnetwork virtio_net\nnetwork virtio-pci\r\nroot sd\nroot unheard-of\n"
		    "root virtio-pci\nroot ext4\nroot ext4\nroot \n",
		    &needs);
	assert_int_equal(needs.network.n, 2);
	assert_int_equal(needs.root.n, 4);
	expect_lacks(&needs.network, HEAD "CONFIG_VIRTIO_NET=y\nCONFIG_VIRTIO_PCI=y\n", false, "");
	expect_lacks(&needs.network, HEAD "# CONFIG_VIRTIO_NET is not set\nCONFIG_VIRTIO_PCI=y\n",
		     true, "CONFIG_VIRTIO_NET=y (virtio_net)");
	expect_lacks(&needs.network, HEAD "CONFIG_VIRTIO_NET=m\nCONFIG_VIRTIO_PCI=y\n", true, "");
	expect_lacks(&needs.network, HEAD "CONFIG_VIRTIO_NET=m\nCONFIG_VIRTIO_PCI=y\n", false,
		     "CONFIG_VIRTIO_NET=y (virtio_net, which it has as a module)");
	/* an option of another name that ends alike is none */
	expect_lacks(&needs.root, "XCONFIG_EXT4_FS=y\nCONFIG_VIRTIO_PCI=y\nCONFIG_BLK_DEV_SD=y",
		     false, "CONFIG_EXT4_FS=y (ext4)");
	expect_lacks(&needs.root, "", false,
		     "CONFIG_BLK_DEV_SD=y (sd), CONFIG_VIRTIO_PCI=y (virtio-pci), CONFIG_EXT4_FS=y "
		     "(ext4)");
	needs_release(&needs);
}

static void test_fragment(void **state _unused)
{
	assert_true(needs_is_config("# top\n" HEAD));
	assert_false(needs_is_config("CONFIG_EXT4_FS=y\n"));
	assert_false(needs_is_config(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lacks),
		cmocka_unit_test(test_fragment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
