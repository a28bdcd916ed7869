// SPDX-License-Identifier: GPL-2.0-or-later
/* Drivers and their options. */
#include "runner/needs.h"

#include <string.h>

/* Up the tree of devices: a disk's own driver, its controller's, the bus's. */
const char needs_script[] = "drivers() {\n"
			    "  d=$(readlink -f \"$1\") || return 0\n"
			    "  while [ ${#d} -gt 5 ]; do\n"
			    "    v=$(readlink \"$d/driver\") && echo \"$2 ${v##*/}\"\n"
			    "    d=${d%/*}\n"
			    "  done\n"
			    "}\n"
			    "net=$(awk '$2 == \"00000000\" { print $1; exit }' /proc/net/route)\n"
			    "[ -z \"$net\" ] || drivers \"/sys/class/net/$net/device\" network\n"
			    "drivers \"/sys/dev/block/$(mountpoint -d / 2>/dev/null)\" root\n"
			    "awk '$2 == \"/\" { f = $3 } END { print \"root \" f }' /proc/mounts\n";

/* As drivers and file systems name themselves, and as the Makefiles of Linux 6.x name their options. Buses that every configuration
 * has are left out. */
static const struct {
	const char *driver, *option;
} options[] = {
	{"virtio_net", "VIRTIO_NET"},
	{"e1000", "E1000"},
	{"e1000e", "E1000E"},
	{"igb", "IGB"},
	{"igc", "IGC"},
	{"ixgbe", "IXGBE"},
	{"i40e", "I40E"},
	{"ice", "ICE"},
	{"tg3", "TIGON3"},
	{"bnx2", "BNX2"},
	{"bnx2x", "BNX2X"},
	{"bnxt_en", "BNXT"},
	{"mlx4_core", "MLX4_EN"},
	{"mlx5_core", "MLX5_CORE_EN"},
	{"r8169", "R8169"},
	{"ena", "ENA_ETHERNET"},
	{"atlantic", "AQTION"},
	{"qede", "QEDE"},
	{"sfc", "SFC"},
	{"vmxnet3", "VMXNET3"},
	{"virtio-pci", "VIRTIO_PCI"},
	{"virtio-mmio", "VIRTIO_MMIO"},
	{"virtio_blk", "VIRTIO_BLK"},
	{"virtio_scsi", "SCSI_VIRTIO"},
	{"nvme", "BLK_DEV_NVME"},
	{"sd", "BLK_DEV_SD"},
	{"ahci", "SATA_AHCI"},
	{"ata_piix", "ATA_PIIX"},
	{"megaraid_sas", "MEGARAID_SAS"},
	{"mpt3sas", "SCSI_MPT3SAS"},
	{"hpsa", "SCSI_HPSA"},
	{"smartpqi", "SCSI_SMARTPQI"},
	{"aacraid", "SCSI_AACRAID"},
	{"mmcblk", "MMC_BLOCK"},
	{"ext4", "EXT4_FS"},
	{"ext3", "EXT4_FS"},
	{"xfs", "XFS_FS"},
	{"btrfs", "BTRFS_FS"},
	{"f2fs", "F2FS_FS"},
	{"nfs", "NFS_FS"},
	{"nfs4", "NFS_V4"},
	{"overlay", "OVERLAY_FS"},
	{"squashfs", "SQUASHFS"},
};

void needs_release(struct needs *needs)
{
	strs_release(&needs->network);
	strs_release(&needs->root);
}

static void add_once(struct strs *list, const char *name)
{
	if (*name && !strs_has(list, name))
		strs_push(list, name);
}

void needs_parse(const char *text, struct needs *out)
{
	AUTO_STRS lines = STRS_INIT;

	*out = (struct needs){STRS_INIT, STRS_INIT};
	strs_split(&lines, text, "\r\n");
	for (size_t i = 0; i < lines.n; i++) {
		if (str_starts(lines.v[i], "network "))
			add_once(&out->network, lines.v[i] + strlen("network "));
		else if (str_starts(lines.v[i], "root "))
			add_once(&out->root, lines.v[i] + strlen("root "));
	}
}

/* Of CONFIG_OPTION=V at the start of a line: V; n else. */
static char value_of(const char *config, const char *option)
{
	AUTO_FREE char *line = xasprintf("CONFIG_%s=", option);
	size_t n = strlen(line);

	for (const char *p = config; (p = strstr(p, line)); p += n)
		if (p == config || p[-1] == '\n')
			return p[n];
	return 'n';
}

bool needs_is_config(const char *config)
{
	return value_of(config, "CC_VERSION_TEXT") != 'n';
}

void needs_lacks(const struct strs *drivers, const char *config, bool modules, struct str *out)
{
	for (size_t i = 0; i < drivers->n; i++) {
		for (size_t o = 0; o < ARRAY_SIZE(options); o++) {
			char value;

			if (strcmp(options[o].driver, drivers->v[i]) != 0)
				continue;
			value = value_of(config, options[o].option);
			if (value == 'y' || (value == 'm' && modules))
				continue;
			str_addf(out, "%sCONFIG_%s=y (%s%s)", out->len ? ", " : "",
				 options[o].option, drivers->v[i],
				 value == 'm' ? ", which it has as a module" : "");
		}
	}
}
