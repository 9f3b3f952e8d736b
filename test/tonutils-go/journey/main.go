// Sends from wallets with tonutils-go, which checks every proof from the init block on, and reads what came of it. The answers go to standard output as
// JSON.
package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"time"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/liteclient"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/ton/dns"
	"github.com/xssnick/tonutils-go/ton/nft"
	"github.com/xssnick/tonutils-go/ton/wallet"
)

type question struct {
	// Global configuration of the network.
	Config json.RawMessage `json:"config"`
	// Global id of the network, which is part of the address of a wallet v5.
	GlobalID int32 `json:"globalId"`
	// Seeds of keys in hex: of a wallet v5r1 with an item of a collection, and of a wallet v4r2 with a domain.
	V5Seed string `json:"v5Seed"`
	V4Seed string `json:"v4Seed"`
	// Raw addresses.
	Collection string `json:"collection"`
	Receiver   string `json:"receiver"`
	// Number of the item.
	Item   int64  `json:"item"`
	Domain string `json:"domain"`
	// Number of messages that the highload wallet sends at once.
	Messages int `json:"messages"`
}

type answer struct {
	// Raw address of the wallet v5r1.
	V5Wallet string `json:"v5Wallet"`
	// Nanotons of the receiver after the transfer of the wallet v5r1.
	Received string `json:"received"`
	// Receivers of the highload wallet that have money.
	Reached int `json:"reached"`
	// Raw addresses of the owners of the item before and after its transfer.
	Owners []string `json:"owners"`
	// Records of the domain: `wallet`, a raw address, and the new `site`, the id of a bag in hex.
	Records []string `json:"records"`
}

func main() {
	var given question
	err := json.NewDecoder(os.Stdin).Decode(&given)
	if err == nil {
		var told answer
		if told, err = travel(given); err == nil {
			err = json.NewEncoder(os.Stdout).Encode(told)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func travel(given question) (answer, error) {
	var told answer
	ctx, cancel := context.WithTimeout(context.Background(), 150*time.Second)
	defer cancel()
	api, stop, err := connect(ctx, given.Config)
	if err != nil {
		return told, err
	}
	defer stop()
	version := wallet.ConfigV5R1Final{NetworkGlobalID: given.GlobalID}
	v5, err := wallet.FromPrivateKey(api, keyOf(given.V5Seed), version)
	if err != nil {
		return told, err
	}
	told.V5Wallet = v5.Address().StringRaw()
	receiver := address.MustParseRawAddr(given.Receiver)
	if err = v5.TransferNoBounce(ctx, receiver, tlb.MustFromTON("0.7"), "from tonutils-go", true); err != nil {
		return told, fmt.Errorf("v5: %w", err)
	}
	if told.Received, err = waitForMoney(ctx, api, receiver); err != nil {
		return told, fmt.Errorf("v5: %w", err)
	}
	if told.Reached, err = sendMany(ctx, api, v5, given); err != nil {
		return told, fmt.Errorf("highload v3: %w", err)
	}
	if told.Owners, err = moveItem(ctx, api, v5, given); err != nil {
		return told, fmt.Errorf("nft: %w", err)
	}
	if told.Records, err = setSite(ctx, api, given); err != nil {
		return told, fmt.Errorf("dns: %w", err)
	}
	return told, nil
}

func connect(ctx context.Context, global json.RawMessage) (ton.APIClientWrapped, func(), error) {
	var config liteclient.GlobalConfig
	if err := json.Unmarshal(global, &config); err != nil {
		return nil, nil, err
	}
	pool := liteclient.NewConnectionPool()
	if err := pool.AddConnectionsFromConfig(ctx, &config); err != nil {
		pool.Stop()
		return nil, nil, err
	}
	api := ton.NewAPIClient(pool, ton.ProofCheckPolicySecure)
	api.SetTrustedBlockFromConfig(&config)
	return api.WithRetry(), pool.Stop, nil
}

func keyOf(seed string) ed25519.PrivateKey {
	key, err := hex.DecodeString(seed)
	if err != nil {
		panic(err)
	}
	return ed25519.NewKeyFromSeed(key)
}

func balanceOf(ctx context.Context, api ton.APIClientWrapped, owner *address.Address) (*big.Int, error) {
	head, err := api.CurrentMasterchainInfo(ctx)
	if err != nil {
		return nil, err
	}
	account, err := api.GetAccount(ctx, head, owner)
	if err != nil {
		return nil, err
	}
	if !account.IsActive {
		return big.NewInt(0), nil
	}
	return account.State.Balance.Nano(), nil
}

// wait asks until it is done or the time is over.
func wait(ctx context.Context, ask func() (bool, error)) error {
	for {
		done, err := ask()
		if done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func waitForMoney(ctx context.Context, api ton.APIClientWrapped, owner *address.Address) (string, error) {
	balance := big.NewInt(0)
	err := wait(ctx, func() (done bool, err error) {
		balance, err = balanceOf(ctx, api, owner)
		return err == nil && balance.Sign() > 0, err
	})
	return balance.String(), err
}

// sendMany deploys a highload wallet v3 with its first messages, and counts the receivers that get their money.
func sendMany(ctx context.Context, api ton.APIClientWrapped, payer *wallet.Wallet, given question) (int, error) {
	version := wallet.ConfigHighloadV3{
		MessageTTL: 120,
		MessageBuilder: func(context.Context, uint32) (uint32, int64, error) {
			// The wallet refuses times after those of its block.
			return 1, time.Now().Unix() - 30, nil
		},
	}
	many, err := wallet.FromPrivateKey(api, keyOf(given.V5Seed), version)
	if err != nil {
		return 0, err
	}
	if err = payer.TransferNoBounce(ctx, many.Address(), tlb.MustFromTON("10"), "", true); err != nil {
		return 0, err
	}
	if _, err = waitForMoney(ctx, api, many.Address()); err != nil {
		return 0, err
	}
	receivers := make([]*address.Address, given.Messages)
	messages := make([]*wallet.Message, given.Messages)
	for at := range messages {
		id := make([]byte, 32)
		id[0] = 0x77
		binary.BigEndian.PutUint32(id[28:], uint32(at))
		receivers[at] = address.NewAddress(0, 0, id)
		messages[at] = wallet.SimpleMessageAutoBounce(receivers[at].Bounce(false), tlb.MustFromTON("0.001"), nil)
	}
	if err = many.SendMany(ctx, messages, true); err != nil {
		return 0, err
	}
	reached := 0
	err = wait(ctx, func() (bool, error) {
		for reached < len(receivers) {
			balance, err := balanceOf(ctx, api, receivers[reached])
			if err != nil || balance.Sign() == 0 {
				return false, err
			}
			reached++
		}
		return true, nil
	})
	return reached, err
}

func moveItem(ctx context.Context, api ton.APIClientWrapped, owner *wallet.Wallet, given question) ([]string, error) {
	collection := nft.NewCollectionClient(api, address.MustParseRawAddr(given.Collection))
	place, err := collection.GetNFTAddressByIndex(ctx, big.NewInt(given.Item))
	if err != nil {
		return nil, err
	}
	item := nft.NewItemClient(api, place)
	before, err := item.GetNFTData(ctx)
	if err != nil {
		return nil, err
	}
	receiver := address.MustParseRawAddr(given.Receiver)
	body, err := item.BuildTransferPayload(receiver, tlb.MustFromTON("0"), nil, owner.Address())
	if err != nil {
		return nil, err
	}
	if err = owner.Send(ctx, wallet.SimpleMessage(place, tlb.MustFromTON("0.1"), body), true); err != nil {
		return nil, err
	}
	owners := []string{before.OwnerAddress.StringRaw(), ""}
	err = wait(ctx, func() (bool, error) {
		after, err := item.GetNFTData(ctx)
		if err == nil {
			owners[1] = after.OwnerAddress.StringRaw()
		}
		return owners[1] != owners[0], err
	})
	return owners, err
}

func setSite(ctx context.Context, api ton.APIClientWrapped, given question) ([]string, error) {
	owner, err := wallet.FromPrivateKey(api, keyOf(given.V4Seed), wallet.V4R2)
	if err != nil {
		return nil, err
	}
	root, err := dns.GetRootContractAddr(ctx, api)
	if err != nil {
		return nil, err
	}
	client := dns.NewDNSClient(api, root)
	domain, err := client.Resolve(ctx, given.Domain)
	if err != nil {
		return nil, err
	}
	bag := bytes.Repeat([]byte{0xb0}, 32)
	body := domain.BuildSetSiteRecordPayload(bag, true)
	message := wallet.SimpleMessage(domain.GetNFTAddress(), tlb.MustFromTON("0.1"), body)
	if err = owner.Send(ctx, message, true); err != nil {
		return nil, err
	}
	records := []string{domain.GetWalletRecord().StringRaw(), ""}
	err = wait(ctx, func() (bool, error) {
		after, err := client.Resolve(ctx, given.Domain)
		if err != nil {
			return false, err
		}
		site, inStorage := after.GetSiteRecord()
		records[1] = hex.EncodeToString(site)
		return inStorage, nil
	})
	return records, err
}
