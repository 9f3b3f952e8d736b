/** A public mnemonic of 24 words, with its Ed25519 public key in hex. Deriving a key takes a tenth of a second. */
export type StartupKey = { readonly mnemonic: string; readonly publicKey: string };

/** Keys of the wallets that every private network funds at its start. Anyone can spend from these wallets: never use a key on another network. */
export const STARTUP_KEYS: readonly StartupKey[] = [
  {
    mnemonic:
      'muscle census social teach fan wide author throw blanket raccoon duty couple can private toward month blood shock jewel derive junior addict engine roast',
    publicKey: 'd50bf2c0d3f3d08b53314e365ecca9b10760d597f51f405bc5b0e29d6a6715dc',
  },
  {
    mnemonic:
      'debris ride wire exercise cry calm obey project edit noodle inject industry skill antique august beach soda cool heart allow cactus hedgehog cabin bulk',
    publicKey: 'fcefb750945af1a397a9ec41345ab43d33476b4ebd882b4e2c68d81554c2d8b4',
  },
  {
    mnemonic:
      'captain salad permit laugh amateur day own blue tornado owner relax globe alone anxiety various wink elephant hurry make curve struggle cost sock danger',
    publicKey: 'bae540f6f7859745e315c37a77ba40779ff585dda928213af2e9915c0747c51f',
  },
  {
    mnemonic:
      'special oxygen point lizard aspect shy pelican pony nose admit ocean chunk broken language priority club moment claim toward near time arrive denial salmon',
    publicKey: '54a5ab5ff9cad3ecaa2163f92749c2c9a4c0c75842b093bbf32fc16d65cab6a4',
  },
  {
    mnemonic:
      'rival badge decline toilet electric trend limb execute toddler tube wall confirm web juice clay organ divide weapon garden someone lava unveil win tuna',
    publicKey: 'e19925fa9a8ad1258f58391ce89efd713cbd9cd21c97276139f22a51375914aa',
  },
  {
    mnemonic:
      'novel pole result acquire canvas iron random bag canoe inflict deer oven sort wet stamp voice shop more violin cry pilot canoe prosper rib',
    publicKey: '096f545968aa2f504ec1032ff136a0c85ad0dc927529aef5c82a07a0ca54d2b6',
  },
  {
    mnemonic:
      'athlete silent cross device sibling chat patrol snack mixture scare couch purity elite another organ sustain tribe neutral rocket fun promote damp perfect mail',
    publicKey: '7501cb26161d1cf3c56275814df1ca0d0c582748904b1a784457f868df656fa1',
  },
  {
    mnemonic:
      'enough lumber cross pencil unfair roast kingdom breeze useful dirt claw pelican desert sail drill midnight guess grocery cushion office oxygen vacuum pretty pear',
    publicKey: '08429853312d3a9240edc5fbbfb0d4293f4f63871098ae17c6f03c4777fea7e1',
  },
  {
    mnemonic:
      'battle pitch dizzy burden dentist result food comic decade final hazard choice expose chapter midnight own lift dynamic bid cruise critic captain mention where',
    publicKey: '03f8e5c7c350d66078e50fdd66eed117fce347b00170e869b9afc13a47234f28',
  },
  {
    mnemonic:
      'tray anchor usual teach onion robust pilot now delay adjust cook chase mercy number film venue behind shine anchor family reform student topic math',
    publicKey: 'a138ba97dcc6d3840e78b3f76a99f9ac443bbcdd079dfc4b3cc129fb44a82eaf',
  },
];
